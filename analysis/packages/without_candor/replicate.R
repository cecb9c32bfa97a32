# Check the files of a data package and compute its estimates again, in base R: `Rscript replicate.R`, in their folder.
#
# Needs R 4.0 or later, and no other package. It ends with status 0 if every file has the hash in SHA256SUMS and every number that is
# computed here is the published one to 1e-9, else with 1. The signature is checked by the program openssl where the computer has it, by
# the key in the package or by another one, as in `Rscript replicate.R . signing-key.pem`; without openssl this is said, and is left open.
#
# Computed are effects by both methods, people who do not follow the die, and prevalence, with standard errors, p-values, Holm's
# adjustment, Fieller's and Wald's intervals, and the test of the model. The formulas are those of Candor's docs/methods.md. Left to
# replicate.py, which needs Candor's library: intervals by likelihood, the bootstrap, sequences, planned tests, estimates at the edge of what
# is possible, studies that assigned whole sections, analytics.json and records.json. So are questions whose answers are named categories;
# this program names them.
#
# THE WRONG ANALYSIS compares the shares of reported "yes". The die dictated some reports, so it estimates x * truth * effect and not the
# effect: x is the share of people who follow the die, truth = 1 - forced no - forced yes. Right is effect = (the difference) / (x * truth).

SUMS <- "SHA256SUMS"; SIGNATURE <- "SHA256SUMS.sig"; KEY <- "public-key.pem"
ROUNDING <- 1e-9

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
    if (token == "{") return(several("}", member))
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
  asked <- c("pkeyutl", "-verify", "-pubin", "-inkey", shQuote(key), "-rawin", "-in", shQuote(file.path(folder, SUMS)), "-sigfile", shQuote(raw))
  system2(OPENSSL, asked, stdout = FALSE, stderr = FALSE) == 0
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
  parts <- strsplit(as.character(text), "/")[[1]]
  digits <- if (grepl("\\.", parts[1])) nchar(sub(".*\\.", "", parts[1])) else 0
  reduced(c(round(as.numeric(parts[1]) * 10^digits), (if (length(parts) > 1) as.numeric(parts[2]) else 1) * 10^digits))
}
reduced <- function(f) {
  a <- abs(f[1])
  b <- abs(f[2])
  while (b > 0) {
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
  adjusted <- stats::p.adjust(p_values, "holm", n = max(sum(!is.na(p_values)), 1))
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
    if (contradicted) cheaters <- c(cheaters, list(value = NULL)) else if (largest <= x && x <= 1) cheaters$value <- 1 - x
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

# The part of results.json that is computed here; of that file come the level, and whether answers contradict the model.
recomputed <- function(rows, protocol, results) {
  design <- design_of(protocol$design)
  level <- if (is.null(results$level)) 0.95 else results$level
  outcomes <- lapply(protocol$questions, function(question) {
    counts <- counts_of(rows, question$column, design)
    p <- results$outcomes[[question$name]]$model_test$p_value
    if (identical(protocol$allocation$unit, "cluster")) list(n = sum(counts)) else outcome_of(counts, design, level, isTRUE(p < 1 - level))
  })
  list(n = nrow(rows), outcomes = stats::setNames(outcomes, vapply(protocol$questions, `[[`, "", "name")))
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
        marks <- intersect(c("method", "treatment", "arm"), names(one))
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

show_outcome <- function(outcome) {
  for (one in outcome$effects) {
    said <- if (is.null(one$value)) "left to replicate.py, or none" else sprintf("%+.4f", one$value)
    cat(sprintf("  %s against %s, %s: %s\n", one$treatment, one$control, one$method, said))
  }
  for (one in outcome$prevalence) if (!is.null(one$value)) cat(sprintf("  yes in %s: %.4f\n", one$arm, one$value))
  if (!is.null(outcome$cheater_proportion$value)) cat(sprintf("  do not follow the die: %.4f\n", outcome$cheater_proportion$value))
}

main <- function(folder, key = file.path(folder, KEY)) {
  faults <- faults_in(folder, key)
  cat(if (length(faults)) faults else sprintf("Every file has the hash in %s.", SUMS), sep = "\n")
  if (OPENSSL == "") cat("The signature was not checked: base R cannot, and this computer has no openssl.\n")
  status <- tryCatch({
    protocol <- read_json(file.path(folder, "protocol.json"))
    again <- recomputed(read_rows(file.path(folder, "data.csv")), protocol, results <- read_json(file.path(folder, "results.json")))
    values <- compared(again, results)
    for (question in protocol$questions) {
      cat(question$text, "\n", sep = "")
      show_outcome(again$outcomes[[question$name]])
    }
    for (question in protocol$category_questions) {
      cat(question$text, "\n", sep = "")
      cat("  not computed here, because its answers are named: its estimates are in results.json under categories,\n")
      cat("  and replicate.py, which needs Candor's library, computes them again\n")
    }
    different <- values[!values$same, ]
    cat(sprintf("%s: published %s, computed again %s\n", different$place, different$published, different$again), sep = "")
    cat(sprintf("%d numbers were computed again, %d differ from those that were published.\n", nrow(values), nrow(different)))
    nrow(different) > 0
  }, error = function(error) {
    cat(sprintf("The numbers cannot be computed again: a file is not as it should be: %s\n", conditionMessage(error)))
    TRUE
  })
  as.integer(status || length(faults) > 0)
}

if (sys.nframe() == 0) {
  given <- commandArgs(trailingOnly = TRUE)
  own <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  folder <- if (length(given)) given[1] else dirname(own)
  quit(status = if (length(given) > 1) main(folder, given[2]) else main(folder))
}
