# Check the files of a data package and compute its estimates again, in base R: `Rscript replicate.R`, in their folder.
#
# Needs R 4.0 or later, and no other package. It ends with status 0 if every file has the hash in SHA256SUMS and every number that is
# computed here is the published one to 1e-9, else with 1. The signature is checked by the program openssl where the computer has it, by
# the key in the package or by another one, as in `Rscript replicate.R . signing-key.pem`; without openssl this is said, and is left open.
#
# Computed are effects by both methods, people who do not follow the die, and prevalence, with standard errors, p-values, Holm's
# adjustment, Fieller's and Wald's intervals, and the test of the model; of questions whose answers are named categories all of this, and
# the intervals by likelihood. The formulas are those of Candor's docs/methods.md. Left to replicate.py, which needs Candor's library: of
# yes/no questions intervals by likelihood and estimates at the edge of what is possible; the bootstrap, sequences, planned tests, bounds for
# missing answers, studies that assigned whole sections, analytics.json and records.json.
#
# THE WRONG ANALYSIS compares the shares of reported "yes". The die dictated some reports, so it estimates x * truth * effect and not the
# effect: x is the share of people who follow the die, truth = 1 - forced no - forced yes. Right is effect = (the difference) / (x * truth).

SUMS <- "SHA256SUMS"; SIGNATURE <- "SHA256SUMS.sig"; KEY <- "public-key.pem"
ROUNDING <- 1e-9
NOT_HERE <- "  left to replicate.py, or none: whole sections were assigned, or in some group nobody answered"

# ---- JSON: objects become named lists, arrays lists, null NULL.

read_json <- function(path) {
  text <- sub("^\ufeff", "", enc2utf8(paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")))
  pattern <- '"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"|[][{},:]|[^][{},:"[:space:]]+'
  tokens <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
  at <- 0L
  following <- function() {
    at <<- at + 1L
    if (at > length(tokens)) stop(sprintf("%s: its end is missing", basename(path)))
    tokens[at]
  }
  several <- function(close, one) {
    found <- list()
    token <- following()
    while (token != close) {
      found <- c(found, one(token))
      if ((token <- following()) == ",") token <- following()
    }
    found
  }
  member <- function(token) {
    name <- plain_text(token)
    if (following() != ":") stop(sprintf("%s: expected a colon after %s", basename(path), name))
    stats::setNames(list(value(following())), name)
  }
  value <- function(token) {
    if (token == "{") {
      found <- several("}", member)
      if (anyDuplicated(names(found))) stop(sprintf("%s: a name stands twice in one object", basename(path)))
      return(found)
    }
    if (token == "[") return(several("]", function(token) list(value(token))))
    if (startsWith(token, "\"")) return(plain_text(token))
    switch(token, true = TRUE, false = FALSE, null = NULL, number_in(token, path))
  }
  value(following())
}

number_in <- function(token, path) {
  number <- suppressWarnings(as.numeric(token))
  if (is.na(number)) stop(sprintf("%s: %s is no number", basename(path), token))
  number
}

# A text without its quotation marks and backslashes.
plain_text <- function(token) {
  text <- substr(token, 2, nchar(token) - 1)
  if (!grepl("\\", text, fixed = TRUE)) return(text)
  parts <- regmatches(text, gregexpr("(?:\\\\u[0-9a-fA-F]{4})+|\\\\.|[^\\\\]+", text, perl = TRUE))[[1]]
  paste(vapply(parts, function(part) {
    if (startsWith(part, "\\u")) {
      intToUtf8(strtoi(strsplit(substring(part, 3), "\\u", fixed = TRUE)[[1]], 16L), allow_surrogate_pairs = TRUE)
    } else if (startsWith(part, "\\")) {
      switch(substring(part, 2), n = "\n", t = "\t", r = "\r", b = "\b", f = "\f", substring(part, 2))
    } else {
      part
    }
  }, ""), collapse = "")
}

# ---- Are these the files that were signed?

OPENSSL <- unname(Sys.which("openssl"))

# The hash of every file: by R itself from version 4.5 on, by openssl, or by the slower program below.
hashes <- function(paths) {
  if (exists("sha256sum", asNamespace("tools"))) return(unname(get("sha256sum", asNamespace("tools"))(paths)))
  if (OPENSSL == "") return(vapply(paths, sha256, "", USE.NAMES = FALSE))
  sub(" .*", "", system2(OPENSSL, c("dgst", "-sha256", "-r", shQuote(paths)), stdout = TRUE))
}

# SHA-256 by FIPS 180-4. R's integers lack one of the 2^32 words, so words are doubles, and bits are mixed by halves of 16.
PRIMES <- Filter(function(n) n == 2 || all(n %% 2:ceiling(sqrt(n)) != 0), 2:311)
ROUNDS <- floor(PRIMES^(1 / 3) %% 1 * 2^32)
halves <- function(word) as.integer(c(word %/% 65536, word %% 65536))

sha256 <- function(path) {
  bytes <- readBin(path, "raw", file.size(path))
  bits <- 8 * length(bytes)
  bytes <- c(bytes, as.raw(0x80), raw((55 - length(bytes)) %% 64), as.raw(bits %/% 256^(7:0) %% 256))
  blocks <- length(bytes) / 64
  w <- rbind(matrix(colSums(matrix(as.numeric(bytes), 4) * 256^(3:0)), 16), matrix(0, 48, blocks))
  for (t in 17:64) w[t, ] <- (mixed(w[t - 2, ], c(17, 19), 10) + w[t - 7, ] + mixed(w[t - 15, ], c(7, 18), 3) + w[t - 16, ]) %% 2^32
  w <- w + ROUNDS
  state <- floor(sqrt(PRIMES[1:8]) %% 1 * 2^32)
  by <- 2^c(6, 11, 25, 2, 13, 22)
  back <- 2^32 / by
  for (block in seq_len(blocks)) {
    column <- w[, block]
    a <- state[1]; b <- state[2]; c <- state[3]; d <- state[4]; e <- state[5]; f <- state[6]; g <- state[7]; h <- state[8]
    A <- halves(a); B <- halves(b); C <- halves(c); E <- halves(e); F <- halves(f); G <- halves(g)
    for (t in 1:64) {
      words <- c(e, e, e, a, a, a)
      down <- words %/% by
      turned <- halves(down + (words - down * by) * back)
      sums <- bitwXor(bitwXor(turned[c(1, 4, 7, 10)], turned[c(2, 5, 8, 11)]), turned[c(3, 6, 9, 12)])
      unlike <- bitwXor(c(F, A, C), c(G, B, B))
      picked <- bitwXor(bitwAnd(c(E, unlike[3:4]), unlike[c(1, 2, 5, 6)]), c(G, B))
      one <- h + (sums[1] + picked[1]) * 65536 + sums[3] + picked[2] + column[t]
      two <- (sums[2] + picked[3]) * 65536 + sums[4] + picked[4]
      h <- g; g <- f; f <- e; e <- (d + one) %% 2^32; d <- c; c <- b; b <- a; a <- (one + two) %% 2^32
      G <- F; F <- E; E <- halves(e); C <- B; B <- A; A <- halves(a)
    }
    state <- (state + c(a, b, c, d, e, f, g, h)) %% 2^32
  }
  paste(sprintf("%04x%04x", as.integer(state %/% 65536), as.integer(state %% 65536)), collapse = "")
}

# The small sigmas: two turns and a shift, mixed by "exclusive or".
mixed <- function(word, by, shift) {
  turned <- lapply(by, function(one) word %/% 2^one + (word %% 2^one) * 2^(32 - one))
  found <- bitwXor(bitwXor(halves(turned[[1]]), halves(turned[[2]])), halves(word %/% 2^shift))
  half <- seq_along(word)
  found[half] * 65536 + found[-half]
}

# TRUE, FALSE, or NA where there is no openssl to ask.
is_genuine <- function(folder, key) {
  if (OPENSSL == "") return(NA)
  line <- readBin(file.path(folder, SIGNATURE), "raw", 1000)
  if (length(line) != 89 || line[89] != as.raw(10)) return(FALSE)  # 64 bytes in base64 have one form, so that no letter can be changed
  raw <- tempfile()
  on.exit(unlink(raw))
  system2(OPENSSL, c("base64", "-d", "-in", shQuote(file.path(folder, SIGNATURE)), "-out", shQuote(raw)), stdout = FALSE, stderr = FALSE)
  if (!identical(file.size(raw), 64)) return(FALSE)
  again <- paste(system2(OPENSSL, c("base64", "-A", "-in", shQuote(raw)), stdout = TRUE), collapse = "")
  if (again != rawToChar(line[1:88])) return(FALSE)
  lines <- readLines(key, warn = FALSE)
  one <- tempfile()
  on.exit(unlink(one), add = TRUE)
  asked <- c("pkeyutl", "-verify", "-pubin", "-inkey", shQuote(one), "-rawin", "-in", shQuote(file.path(folder, SUMS)), "-sigfile", shQuote(raw))
  for (block in split(lines, cumsum(grepl("^-----BEGIN", lines)))) { # servers show their former keys, too
    writeLines(block, one)
    if (system2(OPENSSL, asked, stdout = FALSE, stderr = FALSE) == 0) return(TRUE)
  }
  FALSE
}

# The faults of the files, one sentence each; `key` is the path of a PEM file.
faults_in <- function(folder, key = file.path(folder, KEY)) {
  missing <- Filter(function(name) !file.exists(file.path(folder, name)), c(SUMS, SIGNATURE, KEY))
  if (length(missing)) return(paste0(missing, ": it is missing"))
  lines <- readLines(file.path(folder, SUMS), warn = FALSE, encoding = "UTF-8")
  fine <- grepl("^[0-9a-f]{64}  [^/]+$", lines)
  faults <- sprintf("%s: it was changed: line %d is not a hash and a name", SUMS, which(!fine))
  names <- substring(lines[fine], 67)
  there <- file.exists(file.path(folder, names))
  faults <- c(faults, sprintf("%s: it is missing", names[!there]))
  changed <- hashes(file.path(folder, names[there])) != substr(lines[fine][there], 1, 64)
  faults <- c(faults, sprintf("%s: it was changed", names[there][changed]))
  if (identical(is_genuine(folder, key), FALSE)) faults <- c(faults, sprintf("%s: it does not belong to %s, or is by another key", SIGNATURE, SUMS))
  faults
}

# ---- Do the numbers follow from the data?

# A decimal or a fraction, "1/6", as two whole numbers: what a design identifies is decided exactly.
fraction <- function(text) {
  if (is.character(text) && grepl("e", text, ignore.case = TRUE)) text <- as.numeric(text)
  near <- if (is.numeric(text)) near_fraction(text)
  if (!is.null(near)) return(near)
  parts <- strsplit(if (is.numeric(text)) format(text, digits = 15, scientific = FALSE) else as.character(text), "/")[[1]]
  digits <- if (grepl("\\.", parts[1])) nchar(sub(".*\\.", "", parts[1])) else 0
  reduced(c(round(as.numeric(parts[1]) * 10^digits), (if (length(parts) > 1) as.numeric(parts[2]) else 1) * 10^digits))
}
# The fraction with a denominator up to a million that is a number but for rounding, so that 1/3 means one third; NULL if there is none.
near_fraction <- function(number) {
  before <- c(1, 0)
  found <- c(floor(number), 1)
  rest <- number - found[1]
  while (isTRUE(abs(found[1] / found[2] - number) >= 1e-12)) {
    rest <- 1 / rest
    following <- floor(rest) * found + before
    if (following[2] > 1e6) return(NULL)
    before <- found
    found <- following
    rest <- rest - floor(rest)
  }
  found
}
reduced <- function(f) {
  a <- abs(f[1])
  b <- abs(f[2])
  while (isTRUE(b > 0)) {  # NA: not a number, which readers refuse in words
    rest <- a %% b
    a <- b
    b <- rest
  }
  f / a
}
minus <- function(a, b) reduced(c(a[1] * b[2] - b[1] * a[2], a[2] * b[2]))
times <- function(a, b) reduced(c(a[1] * b[1], a[2] * b[2]))
same <- function(a, b) a[1] * b[2] == b[1] * a[2]
on_one_line <- function(points) {
  for (one in points) for (other in points) if (!same(times(one[[1]], other[[2]]), times(one[[2]], other[[1]]))) return(FALSE)
  TRUE
}

design_of <- function(document) {
  rules <- document$subsamples
  yes <- lapply(rules, function(one) fraction(one$forced_yes))
  truth <- lapply(rules, function(one) minus(minus(c(1, 1), fraction(one$forced_no)), fraction(one$forced_yes)))
  model <- document$cheater_model
  rate <- if (is.list(model)) model$yes_rate else switch(model, always_no = "0", always_yes = "1")
  known <- if (!is.null(rate)) fraction(rate)
  line <- on_one_line(Map(function(t, y) list(minus(t, truth[[1]]), minus(y, yes[[1]])), truth, yes))
  equal <- all(vapply(truth, same, NA, truth[[1]]))
  found <- if (is.null(known)) equal || !line else !on_one_line(Map(function(t, y) list(t, minus(y, known)), truth, yes))
  number <- function(list) unname(vapply(list, function(f) f[1] / f[2], 1))
  arms <- unlist(document$arms)
  shares <- document$allocation$subsamples
  shares <- if (is.null(shares)) rep(1 / length(rules), length(rules)) else number(lapply(shares[names(rules)], fraction))
  control <- match(document$control, arms)
  list(
    arms = arms, names = names(rules), control = control, treatments = setdiff(seq_along(arms), control), truth = number(truth),
    forced = number(yes), known = if (!is.null(known)) known[1] / known[2], shares = shares, equal = equal, found = found,
    prevalence = if (is.null(known)) !line else found
  )
}

# The number of rows by arm, subsample and answer (no, yes); rows without an answer are left out.
counts_of <- function(rows, column, design) {
  given <- rows[rows[[column]] != "", ]
  table <- table(factor(given$arm, design$arms), factor(given$subsample, design$names), factor(given[[column]], c("0", "1")))
  array(as.numeric(table), dim(table))
}

# Arms and subsamples as rows, the subsamples of the first arm first.
cells_of <- function(counts) matrix(aperm(counts, c(2, 1, 3)), ncol = 2)

cell_model <- function(design) {
  arms <- length(design$arms)
  offset <- if (is.null(design$known)) 0 else design$known
  ones <- rep(1, length(design$truth))
  extra <- if (!design$found) {
    if (is.null(design$known)) cbind(ones)
  } else if (!is.null(design$known) || design$equal) cbind(design$forced - offset) else cbind(design$forced, ones)
  inside <- (design$truth / 2 + design$forced) / 2 + (if (is.null(design$known)) 0.5 else design$known) / 2
  matrix <- kronecker(diag(arms), design$truth)
  if (!is.null(extra)) matrix <- cbind(matrix, extra[rep(seq_along(design$truth), arms), , drop = FALSE])
  list(matrix = unname(matrix), offset = offset, honest = if (design$found) arms + 1, inside = rep(inside, arms))
}

# The top of the concave likelihood by Newton's steps, cut where they would leave what is possible.
most_likely <- function(table, matrix, model) {
  full <- ifelse(table == 0, 0.5, table)
  no <- full[, 1]
  yes <- full[, 2]
  height <- function(means) suppressWarnings(sum(yes * log(means) + no * log(1 - means)))
  beta <- qr.solve(matrix, model$inside - model$offset)
  for (step in 1:100) {
    mu <- drop(matrix %*% beta) + model$offset
    slope <- drop(crossprod(matrix, yes / mu - no / (1 - mu)))
    change <- solve(crossprod(matrix, matrix * (yes / mu^2 + no / (1 - mu)^2)), slope, tol = 0)
    shift <- drop(matrix %*% change)
    way <- max(-shift / mu, shift / (1 - mu))
    gain <- sum(slope * change)
    if (way > 0.2) {
      length <- 0.95 / max(way, 0.95)
      before <- height(mu)
      for (half in 1:30) {
        if (isTRUE(height(mu + length * shift) - before >= 0.1 * length * gain - 1e-12 * abs(before))) break
        length <- length / 2
      }
      change <- change * length
    }
    beta <- beta + change
    if (max(abs(shift / pmin(mu, 1 - mu))) <= 1e-5 || max(abs(change)) <= 1e-9) break
  }
  beta
}

fitted_means <- function(table, matrix, model) {
  beta <- most_likely(table, matrix, model)
  means <- drop(matrix %*% beta) + model$offset
  sizes <- rowSums(table)
  least <- 0.5 / (sizes + 1)
  share <- pmin(pmax(means, least), 1 - least)
  list(beta = beta, means = means, weights = sizes / (share * (1 - share)))
}

inverse_gram <- function(matrix, weights) solve(crossprod(matrix, matrix * weights), tol = 0)

# x * effect of each treatment and x with their covariance, by maximum likelihood, and the test of the model.
efficient <- function(counts, design) {
  table <- cells_of(counts)
  model <- cell_model(design)
  fit <- fitted_means(table, model$matrix, model)
  covariance <- inverse_gram(model$matrix, fit$weights)
  honest <- model$honest
  contrasts <- lapply(design$treatments, function(arm) {
    row <- (seq_along(fit$beta) == arm) - (seq_along(fit$beta) == design$control)
    alike <- model$matrix
    alike[, design$control] <- alike[, design$control] + alike[, arm]
    alike <- alike[, -arm, drop = FALSE]
    pooled <- inverse_gram(model$matrix, fitted_means(table, alike, model)$weights)
    list(
      value = sum(row * fit$beta), variance = sum(row * covariance %*% row),
      null_variance = sum(row * pooled %*% row) * sum(counts) / max(sum(counts) - ncol(alike), 1),
      covariance = if (is.null(honest)) NaN else sum(row * covariance[honest, ])
    )
  })
  df <- nrow(table) - length(fit$beta)
  statistic <- sum(fit$weights * (table[, 2] / rowSums(table) - fit$means)^2)
  test <- if (df) list(statistic = statistic, df = df, p_value = stats::pchisq(max(statistic, 0), df, lower.tail = FALSE))
  list(
    beta = fit$beta, covariance = covariance, contrasts = contrasts, honest = honest, test = test,
    x = if (is.null(honest)) NaN else fit$beta[honest], x_variance = if (is.null(honest)) NaN else covariance[honest, honest]
  )
}

# The paper's moment estimator, by the influence of every person on the differences and on x.
difference_in_means <- function(counts, design) {
  n <- sum(counts)
  by_subsample <- apply(counts, c(2, 3), sum)
  by_arm <- apply(counts, c(1, 3), sum)
  size_subsample <- rowSums(by_subsample)
  size_arm <- rowSums(by_arm)
  mean_subsample <- by_subsample[, 2] / size_subsample
  mean_arm <- by_arm[, 2] / size_arm
  mean_truth <- sum(design$truth * size_subsample) / n
  place <- function(axis) slice.index(counts, axis)
  answer <- place(3) - 1
  x <- NaN
  of_x <- array(NaN, dim(counts))
  if (design$found) {
    offset <- if (is.null(design$known)) 0 else design$known
    rows <- rbind(design$forced - offset, if (!design$equal) design$truth, if (is.null(design$known) || design$equal) rep(1, length(design$truth)))
    solved <- solve(rows %*% (design$shares * t(rows)), as.numeric(seq_len(nrow(rows)) == 1), tol = 0)
    weights <- design$shares * drop(solved %*% rows)
    x <- sum(weights * (mean_subsample - offset))
    of_x <- (weights * n / size_subsample)[place(2)] * (answer - mean_subsample[place(2)])
  }
  contrasts <- lapply(design$treatments, function(arm) {
    two <- c(arm, design$control)
    value <- (mean_arm[arm] - mean_arm[design$control]) / mean_truth
    both <- sum(size_arm[two])
    pooled <- sum(by_arm[two, 2]) / both
    sign <- (place(1) == arm) - (place(1) == design$control)
    part <- sign * n * (answer - mean_arm[place(1)]) / size_arm[place(1)]
    influence <- (part - value * (design$truth[place(2)] - mean_truth)) / mean_truth
    list(
      value = value, variance = sum(counts * influence^2) / n^2, covariance = sum(counts * influence * of_x) / n^2,
      null_variance = pooled * (1 - pooled) * sum(1 / size_arm[two]) * both / max(both - 1, 1) / mean_truth^2
    )
  })
  list(contrasts = contrasts, x = x, x_variance = sum(counts * of_x^2) / n^2)
}

fieller <- function(top, x, variance, x_variance, covariance, level, z) {
  a <- x^2 - z^2 * x_variance
  b <- top * x - z^2 * covariance
  c <- top^2 - z^2 * variance
  if (!isTRUE(a > 0) || abs(x) <= ROUNDING) return(list(kind = "unbounded", low = NULL, high = NULL, level = level))
  root <- sqrt(max(b^2 - a * c, 0))
  low <- (b - root) / a
  high <- (b + root) / a
  if (x <= 0 || low > 1 || high < -1) return(list(kind = "empty", low = NULL, high = NULL, level = level))
  list(kind = "fieller", low = max(low, -1), high = min(high, 1), level = level)
}

ratio_error <- function(ratio, x, variance, x_variance, covariance) {
  sqrt(max(variance - 2 * ratio * covariance + ratio^2 * x_variance, 0)) / x
}

# One effect for each treatment; without the value where limits move the estimate, which only the likelihood tells.
effects_of <- function(fit, method, design, level, contradicted) {
  z <- stats::qnorm((1 + level) / 2)
  x <- fit$x
  tests <- lapply(fit$contrasts, function(one) {
    error <- sqrt(max(one$variance, 0))
    p <- if (error > 1e-12) 2 * stats::pnorm(-abs(one$value) / sqrt(max(one$variance, one$null_variance)))
    list(value = one$value, standard_error = if (error > 1e-12) error, p_value = p)
  })
  p_values <- vapply(tests, function(test) if (is.null(test$p_value)) NA_real_ else test$p_value, 1)
  adjusted <- stats::p.adjust(p_values, "holm", n = length(p_values))  # a contrast without a test counts, too
  lapply(seq_along(tests), function(at) {
    one <- fit$contrasts[[at]]
    test <- tests[[at]]
    found <- list(
      treatment = design$arms[design$treatments[at]], control = design$arms[design$control], method = method, p_value = test$p_value,
      adjusted_p_value = if (!is.na(adjusted[at])) adjusted[at], honest_times_effect = test, fieller = NULL
    )
    without <- list(value = NULL, standard_error = NULL, wald = NULL)
    if (is.nan(x)) return(c(found, without, list(honest_proportion = NULL)))
    if (!is.null(test$standard_error)) {
      found$fieller <- fieller(one$value, x, max(one$variance, one$null_variance), fit$x_variance, one$covariance, level, z)
    }
    if (contradicted) return(c(found, without))
    value <- one$value / x
    if (!isTRUE(x > ROUNDING && x <= 1 && abs(value) <= 1)) return(found)
    error <- if (!is.null(test$standard_error)) ratio_error(value, x, one$variance, fit$x_variance, one$covariance)
    wald <- if (!is.null(error)) {
      list(kind = "wald", low = if (error > 0) value - z * error, high = if (error > 0) value + z * error, level = level)
    }
    c(found, list(value = value, standard_error = error, wald = wald, honest_proportion = x))
  })
}

outcome_of <- function(counts, design, level, contradicted) {
  if (any(apply(counts, 1:2, sum) == 0)) return(list(n = sum(counts)))
  fit <- efficient(counts, design)
  x <- fit$x
  cheaters <- list(value = NULL, raw = NULL, standard_error = NULL)
  if (!is.null(fit$honest)) {
    constant <- all(apply(apply(counts == 0, 2:3, all), 1, any))
    cheaters <- list(raw = 1 - x, standard_error = if (!constant) sqrt(fit$x_variance))
    largest <- max(0, vapply(fit$contrasts, function(one) abs(one$value), 1))
    if (contradicted) cheaters <- c(cheaters, list(value = NULL)) else if (largest <= x && x <= 1 + ROUNDING) cheaters$value <- max(0, 1 - x)
  }
  effects <- c(
    effects_of(fit, "efficient", design, level, contradicted),
    effects_of(difference_in_means(counts, design), "difference_in_means", design, level, contradicted)
  )
  prevalence <- lapply(seq_along(design$arms), function(arm) {
    value <- fit$beta[arm] / x
    if (contradicted) return(list(arm = design$arms[arm], value = NULL, standard_error = NULL))
    if (!isTRUE(x > ROUNDING && x <= 1 && value >= 0 && value <= 1)) return(list(arm = design$arms[arm]))
    error <- ratio_error(value, x, fit$covariance[arm, arm], fit$x_variance, fit$covariance[arm, fit$honest])
    list(arm = design$arms[arm], value = value, standard_error = error)
  })
  found <- list(n = sum(counts), cheater_proportion = cheaters, effects = effects, specification_test = fit$test)
  if (design$prevalence) c(found, list(prevalence = prevalence)) else found
}

# ---- Questions whose answers are named: the same model, with an equation for each answer but the first.

named_design <- function(document) {
  answers <- unlist(document$categories)
  keys <- if (is.null(answers)) c("forced_no", "forced_yes") else answers
  if (is.null(answers)) answers <- c("no", "yes")
  forced <- lapply(document$subsamples, function(rule) unname(lapply(rule[keys], fraction)))
  truth <- lapply(forced, function(row) Reduce(minus, row, c(1, 1)))
  q <- stated_shares(document$cheater_model, answers)
  each <- function(of) all(vapply(seq_along(answers), function(c) on_one_line(Map(function(t, row) of(t, row[[c]], c), truth, forced)), NA))
  line <- each(function(t, f, c) list(minus(t, truth[[1]]), minus(f, forced[[1]][[c]])))
  equal <- all(vapply(truth, same, NA, truth[[1]]))
  found <- if (is.null(q)) equal || !line else !each(function(t, f, c) list(t, minus(f, q[[c]])))
  number <- function(list) unname(vapply(list, function(f) f[1] / f[2], 1))
  arms <- unlist(document$arms)
  control <- match(document$control, arms)
  list(
    arms = arms, names = names(document$subsamples), control = control, treatments = setdiff(seq_along(arms), control), answers = answers,
    scores = number(lapply(document$scores, fraction)), truth = number(truth), forced = unname(t(vapply(forced, number, numeric(length(answers))))),
    q = if (!is.null(q)) number(q), equal = equal, found = found, prevalence = if (is.null(q)) !line else found,
    rates_found = !is.null(q) || !line
  )
}

# How often people who do not follow the die give each answer; NULL where nobody knows.
stated_shares <- function(model, answers) {
  zero <- c(0, 1)
  one <- c(1, 1)
  if (is.null(model)) return(NULL)
  if (!is.list(model)) return(switch(model, always_no = list(one, zero), always_yes = list(zero, one)))
  if (!is.null(model$yes_rate)) return(list(minus(one, fraction(model$yes_rate)), fraction(model$yes_rate)))
  shares <- if (is.null(model$always)) lapply(model$distribution, fraction) else stats::setNames(list(one), model$always)
  unname(lapply(answers, function(name) if (is.null(shares[[name]])) zero else shares[[name]]))
}

# The share of each answer; of ordered answers also of each and all above it, and the mean score. One row of weights for each.
measures_of <- function(design) {
  answers <- design$answers
  k <- length(answers)
  found <- list(kind = rep("category", k), category = answers, weights = diag(k), low = rep(0, k), high = rep(1, k))
  if (!length(design$scores)) return(found)
  ends <- range(design$scores)
  list(
    kind = c(found$kind, rep("at_least", k - 1), "mean_score"), category = c(answers, answers[-1], NA),
    weights = rbind(found$weights, t(outer(seq_len(k), 2:k, ">=")) + 0, (design$scores - ends[1]) / diff(ends)),
    low = c(rep(0, 2 * k - 1), ends[1]), high = c(rep(1, 2 * k - 1), ends[2])
  )
}

# Arms, subsamples and answers as one column, the answers of the first cell first.
column_of <- function(array) as.vector(aperm(array, length(dim(array)):1))

others_of <- function(k) rbind(rep(-1, k - 1), diag(k - 1))

named_model <- function(design) {
  arms <- length(design$arms)
  k <- length(design$answers)
  cells <- arms * length(design$truth)
  q <- if (is.null(design$q)) rep(0, k) else design$q
  one <- others_of(k)
  matrix <- kronecker(diag(arms), kronecker(design$truth, one))
  if (design$found) {
    honest <- sweep(design$forced[, -1, drop = FALSE], 2, q[-1]) %*% t(one)
    matrix <- cbind(matrix, rep(column_of(honest), arms))
  }
  if (is.null(design$q) && !design$equal) matrix <- cbind(matrix, kronecker(rep(1, cells), one))
  offset <- rep(c(1 - sum(q[-1]), q[-1]), cells)
  middle <- sweep((design$truth / k + design$forced) / 2, 2, (if (is.null(design$q)) rep(1 / k, k) else q) / 2, "+")
  list(
    matrix = matrix, offset = offset, k = k, honest = if (design$found) arms * (k - 1) + 1,
    inside = qr.solve(matrix, rep(column_of(middle), arms) - offset)
  )
}

# The top of the likelihood without limits; an answer that nobody gave in a cell counts half a person.
likely_shares <- function(table, model, rows = model$matrix) {
  answers <- ifelse(table > 0, table, 0.5)
  beta <- qr.solve(rows, drop(model$matrix %*% model$inside))
  for (step in 1:100) {
    mu <- drop(rows %*% beta) + model$offset
    change <- solve(crossprod(rows, rows * (answers / mu^2)), drop(crossprod(rows, answers / mu)), tol = 0)
    shift <- drop(rows %*% change)
    length <- 0.95 / max(0.95, -shift / mu)
    slope <- sum(answers * shift / mu)
    height <- sum(answers * log(mu))
    for (half in 1:40) {
      if (isTRUE(suppressWarnings(sum(answers * log(mu + length * shift))) - height >= 0.1 * length * slope - 1e-12 * abs(height))) break
      length <- length / 2
    }
    beta <- beta + length * change
    if (max(abs(change)) <= 1e-12 || max(abs(length * shift / mu)) <= 1e-12) break
  }
  mu <- drop(rows %*% beta) + model$offset
  list(beta = beta, shares = mu, weights = information(table, mu, model$k))
}

people_of <- function(table, k) rep(colSums(matrix(table, k)), each = k)

information <- function(table, shares, k) {
  people <- people_of(table, k)
  least <- 0.5 / (people + 1)
  people / pmin(pmax(shares, least), 1 - least)
}

# All possible parameters: shares of each arm's answers but the first, x, and those of the cheaters' answers where they are unknown.
possible_shares <- function(design) {
  arms <- length(design$arms)
  k <- length(design$answers)
  cells <- arms * length(design$truth)
  one <- others_of(k)
  honest <- design$forced
  honest[, 1] <- honest[, 1] + design$truth
  honest <- if (is.null(design$q)) sweep(honest, 2, c(1, rep(0, k - 1))) else sweep(honest, 2, design$q)
  cheaters <- if (is.null(design$q)) kronecker(rep(1, cells), one) else matrix(0, cells * k, 0)
  at <- arms * (k - 1)
  rates <- ncol(cheaters)
  unit <- diag(at + 1 + rates)
  limits <- rbind(
    -unit[seq_len(at), ], cbind(kronecker(diag(arms), t(rep(1, k - 1))), -1, matrix(0, arms, rates)),
    -unit[at + 1 + seq_len(rates), ], c(rep(0, at), rep(1, 1 + rates))
  )
  list(
    matrix = cbind(kronecker(diag(arms), kronecker(design$truth, one)), rep(column_of(honest), arms), cheaters),
    offset = rep(if (is.null(design$q)) c(1, rep(0, k - 1)) else design$q, cells), limits = limits,
    ends = c(rep(0, nrow(limits) - 1), 1), inside = c(rep(0.5 / k, at), 0.5, rep(0.5 / k, rates)), honest = at + 1
  )
}

# The largest log-likelihood between the limits, with `fixed` times the parameters as at the start: a primal-dual method.
highest <- function(table, shares, fixed = NULL, start = shares$inside) {
  rows <- shares$matrix
  limits <- shares$limits
  number <- nrow(limits)
  size <- ncol(rows)
  people <- sum(table)
  phi <- start
  slack <- shares$ends - drop(limits %*% phi)
  force <- 0.1 * people / number / slack
  for (step in 1:120) {
    mu <- pmax(drop(rows %*% phi) + shares$offset, 1e-100)
    gap <- sum(slack * force)
    target <- 0.06 * max(gap, 1e-10) / number
    curvature <- crossprod(rows, rows * (table / mu^2)) + crossprod(limits, limits * (force / slack))
    diag(curvature) <- diag(curvature) * (1 + 1e-12)
    score <- drop(crossprod(rows, table / mu))
    right <- score - drop(crossprod(limits, target / slack))
    solved <- if (is.null(fixed)) {
      solve(curvature, right, tol = 0)
    } else {
      solve(rbind(cbind(curvature, fixed), c(fixed, 0)), c(right, 0), tol = 0)
    }
    move <- solved[seq_len(size)]
    price <- if (is.null(fixed)) 0 else solved[size + 1] * fixed
    change <- -drop(limits %*% move)
    lifted <- (target - force * change) / slack - force
    slope <- max(abs(score - drop(crossprod(limits, force)) - price))
    length <- 0.99 / max(0.99, -drop(rows %*% move) / mu, -change / slack)
    phi <- phi + length * move
    slack <- slack + length * change
    force <- force + 0.99 / max(0.99, -lifted / force) * lifted
    if (gap < 1e-10 && (slope < 1e-4 * max(1, people / 1e4) || abs(sum(score * move)) < 1e-8)) break
  }
  list(phi = phi, log_likelihood = sum(table * log(pmax(drop(rows %*% phi) + shares$offset, 1e-100))))
}

# Where the excess, -critical at the start, passes zero on the way to `far`; `far` where it does not.
crossing <- function(excess, start, far, critical) {
  end <- far
  above <- excess(far)
  if (above <= 0 || is.nan(start)) return(end)
  near <- start
  below <- -critical
  for (attempt in 0:79) {
    middle <- if (attempt < 30) near - below * (near - far) / (below - above) else (near + far) / 2
    found <- excess(middle)
    if (abs(middle - near) <= 1e-10 || found == 0) return(middle)
    crossed <- found * below < 0
    factor <- 1 - found / below
    above <- if (crossed) below else above * (if (isTRUE(factor > 0)) factor else 0.5)
    if (crossed) far <- near
    near <- middle
    below <- found
  }
  near
}

# Shares above 0 whose weighted sum is `value`.
with_mean <- function(value, weights) {
  k <- length(weights)
  mean <- mean(weights)
  even <- if (value > mean) (1 - value) / (1 - mean) else value / mean
  at <- if (value > mean) which.max(weights) else which.min(weights)
  even / k + (1 - even) * (seq_len(k) == at)
}

# The likelihood region from each side, and the test of the model: docs/methods.md, and candor/categories/region.py.
region_of <- function(counts, design, level) {
  table <- column_of(counts)
  shares <- possible_shares(design)
  measures <- measures_of(design)
  arms <- length(design$arms)
  k <- length(design$answers)
  honest <- shares$honest
  size <- ncol(shares$matrix)
  free <- highest(table, shares)
  x <- free$phi[honest]
  plain <- sqrt(stats::qchisq(level, 1))
  tail <- function(ratio) 0.75 * stats::pchisq(ratio, 1, lower.tail = FALSE) + 0.25 * stats::pchisq(ratio, 2, lower.tail = FALSE) - 1 + level
  at_an_end <- sqrt(stats::uniroot(tail, c(0, 1000), tol = 1e-13)$root)
  of_effects <- if (is.null(design$q) && design$rates_found) at_an_end else plain
  row_of <- function(arm, weights) {
    row <- rep(0, size)
    row[(arm - 1) * (k - 1) + seq_len(k - 1)] <- weights[-1] - weights[1]
    row
  }
  cheaters <- function(share) if (is.null(design$q)) (1 - share) * rep(1 / k, k - 1)
  even <- rep(list(rep(1 / k, k)), arms)
  begin <- function(share, prevalences) c(share * unlist(lapply(prevalences, function(one) one[-1])), share, cheaters(share))
  # The ends of one number: `row` times the parameters is 0 where the number is `value`; x itself, where `moves` is FALSE.
  ends <- function(row, start, lowest, critical, starting, moves = TRUE) {
    excess <- function(value) {
      at <- min(max(value, lowest + 1e-7), 1 - 1e-7)
      if (moves) row[honest] <- row[honest] - at
      found <- highest(table, shares, fixed = row, start = starting(at))
      sqrt(max(2 * (free$log_likelihood - found$log_likelihood), 0)) - critical
    }
    clean <- if (!is.nan(start) && abs(start - round(start)) < 1e-5) round(start) else start
    list(best = clean, low = crossing(excess, start, lowest, critical), high = crossing(excess, start, 1, critical))
  }
  ratio <- function(row) if (x > 1e-5) sum(row * free$phi) / x else NaN
  unit <- as.numeric(seq_len(size) == honest)
  several <- function(of) lapply(seq_along(measures$kind), of)
  prevalences <- lapply(seq_len(arms), function(arm) several(function(m) {
    weights <- measures$weights[m, ]
    row <- row_of(arm, weights) + weights[1] * unit
    ends(row, ratio(row), 0, plain, function(at) begin(0.5, replace(even, arm, list(with_mean(at, weights)))))
  }))
  effects <- lapply(design$treatments, function(arm) several(function(m) {
    weights <- measures$weights[m, ]
    row <- row_of(arm, weights) - row_of(design$control, weights)
    two <- function(at) list(with_mean((1 + at) / 2, weights), with_mean((1 - at) / 2, weights))
    ends(row, ratio(row), -1, of_effects, function(at) begin(0.5, replace(even, c(arm, design$control), two(at))))
  }))
  x_ends <- ends(unit, x, 0, at_an_end, function(at) begin(at, even), moves = FALSE)
  found <- svd(shares$matrix)
  basis <- found$u[, found$d > found$d[1] * 1e-9, drop = FALSE]
  inside <- drop(crossprod(basis, shares$matrix %*% shares$inside))
  unlimited <- highest(table, list(matrix = basis, offset = shares$offset, limits = -basis, ends = shares$offset, inside = inside))
  df <- ncol(basis)
  statistic <- max(2 * (unlimited$log_likelihood - free$log_likelihood), 0)
  p <- mean(stats::pchisq(statistic, c(df - 1, df), lower.tail = FALSE))
  # The last digits of a statistic of almost 0 are rounding, and its p-value, almost 1, magnifies them: it is not compared.
  test <- c(list(statistic = statistic, df = df), if (statistic > 1e-6) list(p_value = p))
  list(x = x_ends, prevalences = prevalences, effects = effects, test = test, contradicted = p < 1 - level)
}

# plus + (row * beta) / x with its error; with `cut`, an x above 1 becomes 1.
named_ratio <- function(fit, covariance, honest, row, plus = 0, cut = FALSE) {
  if (is.null(honest) || fit$beta[honest] <= ROUNDING) return(NULL)
  x <- if (cut) min(fit$beta[honest], 1) else fit$beta[honest]
  with_honest <- sum(row * covariance[honest, ]) / covariance[honest, honest]
  found <- (sum(row * fit$beta) - with_honest * (fit$beta[honest] - x)) / x
  gradient <- row / x
  gradient[honest] <- gradient[honest] - found / x
  list(value = plus + found, error = sqrt(max(sum(gradient * covariance %*% gradient), 0)))
}

named_outcome <- function(counts, design, level, background = FALSE) {
  if (any(apply(counts, 1:2, sum) == 0)) return(list(n = sum(counts)))
  if (background && length(design$arms) > 1) {
    # No arm changes what is asked: everybody together, and the tests of the arms beside it.
    together <- array(apply(counts, 2:3, sum), c(1, dim(counts)[-1]))
    found <- named_outcome(together, utils::modifyList(design, list(arms = "all arms", control = 1L, treatments = integer())), level)
    found$no_effect <- no_effect_of(named_fit(counts, design), design)
    return(found)
  }
  z <- stats::qnorm((1 + level) / 2)
  fit <- named_fit(counts, design)
  honest <- fit$model$honest
  region <- region_of(counts, design, level)
  contradicted <- region$contradicted
  measures <- measures_of(design)
  several <- seq_along(measures$kind)
  spread <- measures$high - measures$low
  x <- if (is.null(honest)) NaN else fit$beta[honest]
  interval <- function(one, low, high) {
    if (contradicted) return(list(kind = "empty", low = NULL, high = NULL, level = level))
    list(kind = "likelihood", low = low + (high - low) * one$low, high = low + (high - low) * one$high, level = level)
  }
  # A value that is not told stays in the list as NULL.
  told <- function(value) if (!is.null(value) && !is.nan(value)) value
  row_of <- function(arm, weights) {
    row <- rep(0, length(fit$beta))
    row[(arm - 1) * (fit$model$k - 1) + seq_len(fit$model$k - 1)] <- weights[-1] - weights[1]
    row
  }
  region <- also_without_limits(region, fit, design, row_of, z)
  apart <- function(arm, m) row_of(arm, measures$weights[m, ]) - row_of(design$control, measures$weights[m, ])
  ratio <- function(...) named_ratio(fit, fit$covariance, honest, ...)
  largest <- max(0, vapply(design$treatments, function(arm) max(vapply(several, function(m) abs(sum(apart(arm, m) * fit$beta)), 1)), 1))
  possible <- isTRUE(largest - ROUNDING <= x && x <= 1 + ROUNDING)
  cheaters <- list(
    value = if (!is.null(honest) && !contradicted) if (possible) min(max(1 - x, 0), 1) else 1 - region$x$best, raw = told(1 - x),
    standard_error = if (!is.null(honest)) sqrt(fit$covariance[honest, honest]),
    interval = interval(list(low = 1 - region$x$high, high = 1 - region$x$low), 0, 1)
  )
  effects <- do.call(c, lapply(seq_along(design$treatments), function(at) lapply(several, function(m) {
    row <- apart(design$treatments[at], m)
    delta <- spread[m] * sum(row * fit$beta)
    errors <- vapply(list(fit$covariance, fit$without[[at]]), function(one) spread[m] * sqrt(sum(row * one %*% row)), 1)
    raw <- ratio(row)
    cut <- ratio(row, cut = TRUE)
    ends <- region$effects[[at]][[m]]
    list(
      treatment = design$arms[design$treatments[at]], control = design$arms[design$control], measure = measures$kind[m],
      category = if (!is.na(measures$category[m])) measures$category[m],
      value = if (!contradicted) {
        if (possible && !is.null(raw)) spread[m] * raw$value else if (design$found) told(spread[m] * ends$best)
      },
      standard_error = if (!is.null(cut)) spread[m] * cut$error, interval = interval(ends, 0, spread[m]),
      wald = if (!is.null(raw) && !contradicted) {
        list(kind = "wald", low = spread[m] * (raw$value - z * cut$error), high = spread[m] * (raw$value + z * cut$error), level = level)
      },
      p_value = NULL, adjusted_p_value = NULL, honest_times_effect = list(
        value = delta, standard_error = errors[1], p_value = stats::pchisq((delta / max(errors))^2, 1, lower.tail = FALSE)
      )
    )
  })))
  list(
    n = sum(counts), identified = design$found, cheater_proportion = cheaters, no_effect = no_effect_of(fit, design),
    effects = with_holm(as.list(effects), length(design$answers)), model_test = region$test, specification_test = fit$test,
    prevalence = named_prevalence(fit, region, design, ratio, row_of, interval, contradicted)
  )
}

# The fit with its covariance, those covariances without an effect of each treatment, and Pearson's test of the model.
named_fit <- function(counts, design) {
  table <- column_of(counts)
  model <- named_model(design)
  fit <- likely_shares(table, model)
  others <- model$k - 1
  without <- lapply(design$treatments, function(arm) {
    columns <- (arm - 1) * others + seq_len(others)
    control <- (design$control - 1) * others + seq_len(others)
    alike <- model$matrix
    alike[, control] <- alike[, control] + alike[, columns]
    alike <- alike[, -columns, drop = FALSE]
    inverse_gram(model$matrix, likely_shares(table, model, alike)$weights) * sum(table) / max(sum(table) - ncol(alike), 1)
  })
  df <- length(table) / model$k * others - length(fit$beta)
  people <- people_of(table, model$k)
  statistic <- sum((table - fit$shares * people)^2 * fit$weights / people^2)
  test <- if (df) list(statistic = statistic, df = df, p_value = stats::pchisq(max(statistic, 0), df, lower.tail = FALSE))
  c(fit, list(model = model, covariance = inverse_gram(model$matrix, fit$weights), without = without, test = test))
}

# No effect on any answer: the smaller of two chi-squares, with the covariance at the estimates and with the one without an effect.
no_effect_of <- function(fit, design) {
  others <- fit$model$k - 1
  statistics <- vapply(seq_along(design$treatments), function(at) {
    row <- function(arm) diag(length(fit$beta))[(arm - 1) * others + seq_len(others), , drop = FALSE]
    contrast <- row(design$treatments[at]) - row(design$control)
    delta <- drop(contrast %*% fit$beta)
    min(vapply(list(fit$covariance, fit$without[[at]]), function(one) {
      sum(delta * solve(contrast %*% one %*% t(contrast), delta, tol = 0))
    }, 1))
  }, 1)
  p <- stats::pchisq(statistics, others, lower.tail = FALSE)
  adjusted <- stats::p.adjust(p, "holm")
  lapply(seq_along(p), function(at) list(
    treatment = design$arms[design$treatments[at]], control = design$arms[design$control], statistic = statistics[at], df = others,
    p_value = p[at], adjusted_p_value = adjusted[at]
  ))
}

# Holm's adjustment over all effects on numbers of one kind; two answers have one test, not two.
with_holm <- function(effects, answers) {
  kinds <- vapply(effects, `[[`, "", "measure")
  p <- vapply(effects, function(one) one$honest_times_effect$p_value, 1)
  for (kind in unique(kinds)) {
    places <- which(kinds == kind)
    adjusted <- if (kind == "category" && answers == 2) {
      rep(stats::p.adjust(p[places][c(TRUE, FALSE)], "holm"), each = 2)
    } else stats::p.adjust(p[places], "holm")
    for (at in seq_along(places)) effects[[places[at]]][c("p_value", "adjusted_p_value")] <- c(p[places[at]], adjusted[at])
  }
  effects
}

# Where two shares, or what effects leave of x, are less than two standard errors from 0, all ends hold what the model without limits leaves.
also_without_limits <- function(region, fit, design, row_of, z) {
  honest <- fit$model$honest
  k <- length(design$answers)
  if (is.null(honest) || (k == 2 && length(design$arms) <= 2)) return(region)
  unit <- as.numeric(seq_along(fit$beta) == honest)
  of_share <- function(arm, weights) row_of(arm, weights) + weights[1] * unit
  joint <- function(one, other) sum(one * drop(fit$covariance %*% other))
  by <- lapply(seq_along(design$arms), function(arm) lapply(seq_len(k), function(c) of_share(arm, as.numeric(seq_len(k) == c))))
  apart <- lapply(by, function(one) lapply(by, function(other) if (!identical(one, other)) Map(function(a, b) unit - a + b, one, other)))
  rows <- c(unlist(by, recursive = FALSE), unlist(unlist(apart, recursive = FALSE), recursive = FALSE))
  near <- vapply(rows, function(row) sum(row * fit$beta) < 2 * sqrt(joint(row, row)), NA)
  if (sum(near) < 2) return(region)
  holding <- function(one, low, high, lowest = 0) {
    if (low > 1 || high < lowest) return(one)
    utils::modifyList(one, list(low = min(one$low, max(low, lowest)), high = max(one$high, min(high, 1))))
  }
  x <- fit$beta[honest]
  half <- z * sqrt(joint(unit, unit))
  region$x <- holding(region$x, x - half, x + half)
  # Fieller's ends for x above 0.
  with_fieller <- function(one, row, lowest) {
    top <- sum(row * fit$beta)
    a <- x^2 - z^2 * joint(unit, unit)
    b <- top * x - z^2 * joint(row, unit)
    c <- top^2 - z^2 * joint(row, row)
    root <- sqrt(max(b^2 - a * c, 0))
    if (a > 0) return(if (x <= 0) one else holding(one, (b - root) / a, (b + root) / a, lowest))
    if (root == 0) return(holding(one, lowest, 1, lowest))
    below <- top * joint(unit, unit) < x * joint(row, unit)
    least <- (if (below) -b else b) + root
    end <- if (least != 0) c / least else Inf
    if (below) holding(one, lowest, -end, lowest) else holding(one, end, 1, lowest)
  }
  weights <- measures_of(design)$weights
  for (m in seq_len(nrow(weights))) {
    if (design$prevalence) for (arm in seq_along(design$arms)) {
      region$prevalences[[arm]][[m]] <- with_fieller(region$prevalences[[arm]][[m]], of_share(arm, weights[m, ]), 0)
    }
    if (design$found) for (at in seq_along(design$treatments)) {
      row <- row_of(design$treatments[at], weights[m, ]) - row_of(design$control, weights[m, ])
      region$effects[[at]][[m]] <- with_fieller(region$effects[[at]][[m]], row, -1)
    }
  }
  region
}

# One for each arm and measure; where the design leaves them open, only the intervals of a study with one arm.
named_prevalence <- function(fit, region, design, ratio, row_of, interval, contradicted) {
  if (!design$prevalence && length(design$arms) > 1) return(list())
  measures <- measures_of(design)
  share <- function(arm, weights) if (design$prevalence) ratio(row_of(arm, weights), plus = weights[1])
  do.call(c, lapply(seq_along(design$arms), function(arm) {
    each <- lapply(seq_along(design$answers), function(c) share(arm, as.numeric(seq_along(design$answers) == c))$value)
    possible <- design$prevalence && fit$beta[fit$model$honest] <= 1 && all(vapply(each, function(one) isTRUE(one >= 0 && one <= 1), NA))
    lapply(seq_along(measures$kind), function(m) {
      raw <- share(arm, measures$weights[m, ])
      ends <- region$prevalences[[arm]][[m]]
      low <- measures$low[m]
      spread <- measures$high[m] - low
      list(
        arm = design$arms[arm], measure = measures$kind[m], category = if (!is.na(measures$category[m])) measures$category[m],
        value = if (design$prevalence && !contradicted) {
          if (possible) low + spread * raw$value else if (!is.nan(ends$best)) low + spread * ends$best
        },
        standard_error = if (!is.null(raw) && !contradicted) spread * raw$error, interval = interval(ends, low, measures$high[m])
      )
    })
  }))
}

# The number of rows by arm, subsample and named answer; rows without an answer are left out.
named_counts <- function(rows, column, design) {
  given <- rows[rows[[column]] != "", ]
  table <- table(factor(given$arm, design$arms), factor(given$subsample, design$names), factor(given[[column]], design$answers))
  array(as.numeric(table), dim(table))
}

# The part of results.json that is computed here; of that file come the level, and whether answers contradict the model.
recomputed <- function(rows, protocol, results) {
  design <- if (length(protocol$questions)) design_of(protocol$design)
  level <- if (is.null(results$level)) 0.95 else results$level
  outcomes <- lapply(protocol$questions, function(question) {
    counts <- counts_of(rows, question$column, design)
    p <- results$outcomes[[question$name]]$model_test$p_value
    if (identical(protocol$allocation$unit, "cluster")) list(n = sum(counts)) else outcome_of(counts, design, level, isTRUE(p < 1 - level))
  })
  named <- lapply(protocol$category_questions, function(question) {
    design <- named_design(question$design)
    counts <- named_counts(rows, question$column, design)
    if (identical(protocol$allocation$unit, "cluster")) return(list(n = sum(counts)))
    named_outcome(counts, design, level, identical(question$purpose, "background"))
  })
  found <- list(n = nrow(rows), outcomes = stats::setNames(outcomes, vapply(protocol$questions, `[[`, "", "name")))
  if (length(named)) found$categories <- stats::setNames(named, vapply(protocol$category_questions, `[[`, "", "name"))
  found
}

# A matrix of place, computed and published value, one row for each value that was computed, with whether they are the same.
compared <- function(again, published, place = NULL) {
  if (is.list(again) && length(again)) {
    parts <- lapply(seq_along(again), function(at) {
      one <- again[[at]]
      name <- names(again)[at]
      other <- if (!is.null(name)) {
        if (is.list(published)) published[[name]]
      } else {
        marks <- intersect(c("method", "treatment", "arm", "measure", "category"), names(one))
        Find(function(each) all(vapply(marks, function(mark) identical(each[[mark]], one[[mark]]), NA)), published)
      }
      compared(one, other, c(place, if (is.null(name)) at - 1 else name))
    })
    return(do.call(rbind, parts))
  }
  if (is.list(again)) return(NULL)
  near <- is.numeric(again) && is.numeric(published) && isTRUE(abs(again - published) <= 1e-9 * max(1, abs(again), abs(published)))
  shown <- function(value) if (is.null(value)) "nothing" else format(value, digits = 15)
  data.frame(place = paste(place, collapse = "."), again = shown(again), published = shown(published), same = near || identical(again, published))
}

read_rows <- function(path) {
  rows <- utils::read.csv(path, colClasses = "character", check.names = FALSE, encoding = "UTF-8", na.strings = character())
  names(rows)[1] <- sub("^\ufeff", "", names(rows)[1])
  rows
}

# Write lines in which no name of a stranger moves the cursor of a terminal: such a character is written as its code, as in JSON.
say <- function(lines) {
  for (line in lines) {
    codes <- utf8ToInt(iconv(enc2utf8(line), "UTF-8", "UTF-8", sub = "byte"))
    moves <- (codes < 32 & codes != 9) | codes %in% c(127:159, 0x2028:0x202e, 0x2066:0x2069)
    shown <- intToUtf8(codes, multiple = TRUE)
    shown[moves] <- sprintf("\\u%04x", codes[moves])
    cat(shown, "\n", sep = "")
  }
}

show_outcome <- function(outcome) {
  for (one in outcome$effects) {
    said <- if (is.null(one$value)) "left to replicate.py, or none" else sprintf("%+.4f", one$value)
    say(sprintf("  %s against %s, %s: %s", one$treatment, one$control, one$method, said))
  }
  for (one in outcome$prevalence) if (!is.null(one$value)) say(sprintf("  yes in %s: %.4f", one$arm, one$value))
  show_cheaters(outcome)
}

show_cheaters <- function(outcome) {
  if (!is.null(outcome$cheater_proportion$value)) say(sprintf("  do not follow the die: %.4f", outcome$cheater_proportion$value))
}

show_named <- function(outcome) {
  about <- function(one) if (is.null(one$category)) "mean score" else if (one$measure == "at_least") paste("at least", one$category) else one$category
  said <- function(one, form) {
    ends <- if (!is.null(one$interval$low)) sprintf(paste0(" (", form, " to ", form, ")"), one$interval$low, one$interval$high) else ""
    paste0(if (is.null(one$value)) "not told by the design, or contradicted" else sprintf(form, one$value), ends)
  }
  for (one in outcome$effects) say(sprintf("  %s against %s, %s: %s", one$treatment, one$control, about(one), said(one, "%+.4f")))
  for (one in outcome$prevalence) say(sprintf("  %s in %s: %s", about(one), one$arm, said(one, "%.4f")))
  show_cheaters(outcome)
}

main <- function(folder, key = file.path(folder, KEY)) {
  faults <- faults_in(folder, key)
  say(if (length(faults)) faults else sprintf("Every file has the hash in %s.", SUMS))
  if (OPENSSL == "") say("The signature was not checked: base R cannot, and this computer has no openssl.")
  status <- tryCatch({
    protocol <- read_json(file.path(folder, "protocol.json"))
    again <- recomputed(read_rows(file.path(folder, "data.csv")), protocol, results <- read_json(file.path(folder, "results.json")))
    values <- compared(again, results)
    show <- function(questions, outcomes, shown) for (question in questions) {
      say(question$text)
      outcome <- outcomes[[question$name]]
      if (identical(names(outcome), "n")) say(NOT_HERE) else shown(outcome)
    }
    show(protocol$questions, again$outcomes, show_outcome)
    show(protocol$category_questions, again$categories, show_named)
    different <- values[!values$same, ]
    say(sprintf("%s: published %s, computed again %s", different$place, different$published, different$again))
    say(sprintf("%d numbers were computed again, %d differ from those that were published.", nrow(values), nrow(different)))
    nrow(different) > 0
  }, error = function(error) {
    say(sprintf("The numbers cannot be computed again: a file is not as it should be: %s", conditionMessage(error)))
    TRUE
  })
  as.integer(status || length(faults) > 0)
}

if (sys.nframe() == 0) {
  given <- commandArgs(trailingOnly = TRUE)
  own <- gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE) # as Rscript writes spaces
  folder <- if (length(given)) given[1] else dirname(own)
  quit(status = if (length(given) > 1) main(folder, given[2]) else main(folder))
}
