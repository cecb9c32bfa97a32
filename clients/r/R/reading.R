# Reads data packages and designs. The checks and the estimates are those of replicate.R, the program that travels with each package.

.onLoad <- function(libname, pkgname) {
  assign("OPENSSL", unname(Sys.which("openssl")), envir = topenv())  # of this computer, not of the one that built the package
}

candor_read <- function(path, key = NULL, check = TRUE) {
  if (!is.character(path) || length(path) != 1) stop("expected the path of a data package: a folder or a ZIP file", call. = FALSE)
  if (!file.exists(path)) stop(sprintf("expected a data package, a folder or a ZIP file; there is nothing at %s", path), call. = FALSE)
  folder <- if (dir.exists(path)) path else unpacked(path)
  for (name in c("protocol.json", "results.json", "data.csv")) {
    if (!file.exists(file.path(folder, name))) stop(sprintf("%s is no data package: it has no %s", path, name), call. = FALSE)
  }
  if (!is.null(key) && !file.exists(key)) stop(sprintf("expected a PEM file with the key of the server; there is nothing at %s", key), call. = FALSE)
  faults <- if (check) faults_in(folder, if (is.null(key)) file.path(folder, KEY) else key) else character()
  if (length(faults)) stop(paste(c(sprintf("%s is not as it was signed:", path), faults), collapse = "\n"), call. = FALSE)
  structure(
    list(
      path = path, protocol = read_json(file.path(folder, "protocol.json")), results = read_json(file.path(folder, "results.json")),
      data = read_rows(file.path(folder, "data.csv")), simulated = is_simulated(file.path(folder, "datapackage.json")), checked = check,
      signature = check && OPENSSL != "", own_key = is.null(key)
    ),
    class = "candor_package"
  )
}

# Whether datapackage.json says that the data are simulated: older ones in the description, newer ones among the keywords too.
is_simulated <- function(path) {
  described <- if (file.exists(path)) read_json(path)
  "simulated data" %in% unlist(described$keywords) || isTRUE(grepl("^Simulated answers", described$description))
}

# So many bytes are unpacked at most from an archive that somebody packed; Candor packs nothing.
LARGEST <- 64 * 2^20

unpacked <- function(path) {
  folder <- tempfile("candor-")
  inside <- tryCatch(utils::unzip(path, list = TRUE), error = function(error) NULL)
  if (is.null(inside)) stop(sprintf("%s is neither a folder nor a ZIP file", path), call. = FALSE)
  if (any(grepl("[/\\\\]", inside$Name)) || anyDuplicated(inside$Name)) {
    stop(sprintf("%s is no data package: its files lie in folders, or two have one name", path), call. = FALSE)
  }
  most <- max(file.size(path), LARGEST)
  if (sum(inside$Length) > most) {
    stop(sprintf("expected files of at most %.0f bytes in %s, found %.0f", most, path, sum(inside$Length)), call. = FALSE)
  }
  utils::unzip(path, exdir = folder)
  folder
}

candor_design <- function(design) {
  if (inherits(design, "candor_package")) design <- design$protocol
  if (is.character(design)) {
    if (length(design) != 1 || !file.exists(design)) stop(sprintf("expected the path of a protocol.json or a design.json; there is nothing at %s", design[1]), call. = FALSE)
    design <- read_json(design)
  }
  if (!is.list(design)) stop("expected a design: a list, or the path of a protocol.json or a design.json", call. = FALSE)
  named <- design$category_questions
  together <- identical(design$allocation$unit, "cluster")
  if (!is.null(design$design)) design <- design$design
  design <- checked_design(design)
  for (at in seq_along(named)) named[[at]]$design <- checked_design(named[[at]]$design)
  design$category_questions <- named
  if (together) design$unit <- "cluster"
  design
}

print.candor_package <- function(x, ...) {
  asked <- vapply(c(x$protocol$questions, x$protocol$category_questions), `[[`, "", "name")
  who <- if (x$simulated) "bots (simulated data, nobody's answers)" else "people"
  say(sprintf("Data package %s: %d %s, %s", basename(x$path), nrow(x$data), who, paste(asked, collapse = ", ")))
  cat(if (!x$checked) {
    "Its files were not checked.\n"
  } else if (!x$signature) {
    "Every file has its published hash; the signature was not checked, because this computer has no openssl.\n"
  } else if (x$own_key) {
    "Every file is as it was signed with the key in the package; give `key`, the server's own, to be sure whose it is.\n"
  } else {
    "Every file is as it was signed with the key that you gave.\n"
  })
  invisible(x)
}

# Our own numbers beside the published ones.
candor_compare <- function(package) {
  if (!inherits(package, "candor_package")) stop("expected a data package that candor_read() read", call. = FALSE)
  values <- compared(recomputed(package$data, package$protocol, package$results), package$results)
  data.frame(values, stringsAsFactors = FALSE)
}
