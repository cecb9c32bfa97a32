# Every number is that of Candor's Python library to 1e-9 (cases.json), and bad input is refused in words.

library(candor)
read_json <- candor:::read_json

same <- function(one, other) {
  if (is.null(other)) return(is.na(one))
  isTRUE(abs(one - other) <= 1e-9 * max(1, abs(one), abs(other)))
}

written <- function(case, folder) {
  dir.create(folder)
  cells <- do.call(rbind, lapply(case$rows, unlist))
  data <- as.data.frame(cells[rep(seq_len(nrow(cells)), as.integer(cells[, ncol(cells)])), -ncol(cells), drop = FALSE])
  names(data) <- unlist(case$columns)
  utils::write.csv(data, file.path(folder, "data.csv"), row.names = FALSE, quote = FALSE)
  data
}

# At the edge of what is possible the library goes on by likelihood, and R says NA; `edge` allows that.
compared <- 0L
estimates <- 0L
check <- function(one, other, what, edge = FALSE) {
  if (edge && is.na(one)) return(invisible())
  compared <<- compared + 1L
  if (!same(one, other)) stop(sprintf("%s: found %s, the library has %s", what, format(one, digits = 15), format(other, digits = 15)))
}

# The texts of the protocol and of the results, cut out of the committed file as they are.
cases <- read_json("cases.json")
for (number in seq_along(cases)) {
  case <- cases[[number]]
  data <- written(case, file.path(tempdir(), number))
  package <- structure(list(path = "case", protocol = case$protocol, results = case$results, data = data), class = "candor_package")
  found <- candor_estimate(package)
  stopifnot(nrow(found$questions) == length(case$protocol$questions), all(candor_compare(package)$same))
  for (question in found$questions$question) {
    published <- case$results$outcomes[[question]]
    row <- found$questions[found$questions$question == question, ]
    check(row$n, published$n, question)
    check(row$cheaters, published$cheater_proportion$value, question, edge = TRUE)
    check(row$cheaters_std_error, published$cheater_proportion$standard_error, question)
    check(row$test_p_value, published$specification_test$p_value, question)
    effects <- found$effects[found$effects$question == question, ]
    for (at in seq_len(nrow(effects))) {
      one <- effects[at, ]
      is_it <- function(each) each$method == one$method && each$treatment == one$treatment
      other <- Find(is_it, published$effects)
      check(one$p_value, other$p_value, question)
      check(one$adjusted_p_value, other$adjusted_p_value, question)
      check(one$fieller_low, other$fieller$low, question)
      check(one$fieller_high, other$fieller$high, question)
      check(one$estimate, other$value, question, edge = TRUE)
      check(one$std_error, other$standard_error, question, edge = TRUE)
      check(one$wald_low, other$wald$low, question, edge = TRUE)
      estimates <- estimates + !is.na(one$estimate)
    }
  }
  # The same from a data frame and a design alone, but for the test by likelihood.
  alone <- candor_estimate(data, case$protocol)
  stopifnot(identical(alone$questions$cheaters_raw, found$questions$cheaters_raw), !alone$tested, found$tested)
  stopifnot(identical(alone$effects$p_value, found$effects$p_value))
}
cat(compared, "numbers are those of the library,", estimates, "of them effects\n")
stopifnot(compared > 250L, estimates > 20L)

grDevices::pdf(NULL)
stopifnot(nrow(plot(found)) > 0)
invisible(capture.output(print(found)))
stopifnot(identical(as.data.frame(found), found$effects))

# ---- Bad input

refused <- function(expression, words) {
  said <- tryCatch({
    expression
    "nothing"
  }, error = conditionMessage)
  if (!grepl(words, said, fixed = TRUE)) stop(sprintf("expected a refusal with '%s', found '%s'", words, said))
}
design <- cases[[2]]$protocol$design
fine <- data.frame(arm = rep(unlist(design$arms), each = 20), subsample = rep(names(design$subsamples), 10), yes = 0:1)
changed <- function(...) utils::modifyList(fine, list(...))
stopifnot(nrow(candor_estimate(fine, design)$effects) > 0)
stopifnot(identical(candor_estimate(changed(yes = fine$yes == 1), design), candor_estimate(fine, design)))
refused(candor_estimate(changed(yes = replace(fine$yes, 3, 2)), design), "yes, row 3: expected 0, 1 or nothing, found 2")
refused(candor_estimate(changed(arm = replace(fine$arm, 5, "x")), design), "arm, row 5: expected one of")
refused(candor_estimate(changed(subsample = NA), design), "subsample, row 1: expected one of")
refused(candor_estimate(fine[c("arm", "yes")], design), "subsample is missing")
refused(candor_estimate(fine[c("arm", "subsample")], design), "at least one column of answers")
refused(candor_estimate(fine), "expected a design")
refused(candor_estimate(1:3, design), "expected a data frame")
refused(candor_estimate(fine, design, level = 95), "expected a level between 0 and 1")
refused(candor_estimate(fine, "absent.json"), "there is nothing at absent.json")
refused(candor_design(list(arms = "a")), "this one has no control")
refused(candor_design(utils::modifyList(design, list(control = "x"))), "the control is one of the arms")
wrong <- utils::modifyList(design, list(subsamples = list("1" = list(forced_no = "5/6", forced_yes = "1/6"))))
refused(candor_design(wrong), "with a sum below 1, found 5/6 and 1/6")
refused(candor_read("absent.zip"), "there is nothing at absent.zip")
refused(candor_read("cases.json"), "is neither a folder nor a ZIP file")
refused(candor_read(tempdir()), "it has no protocol.json")
one_arm <- candor_estimate(fine[fine$arm == unlist(design$arms)[1], ], utils::modifyList(design, list(arms = unlist(design$arms)[1])))
stopifnot(nrow(one_arm$effects) == 0, identical(names(one_arm$effects), names(found$effects)))
refused(plot(one_arm), "the study has one arm")
refused(plot(found, method = "magic"), "expected one of the methods")
refused(candor_compare(fine), "expected a data package")
