# Estimates as data frames: one row for each effect, each prevalence, and each question; those of named answers by themselves.

IN_SECTIONS <- "this study assigned whole sections: its intervals need Candor's own library (replicate.py in the package)"
NOBODY_ANSWERED <- "in some arm of some subsample nobody answered"

candor_estimate <- function(data, design = NULL, outcomes = NULL, level = 0.95) {
  if (!is.numeric(level) || length(level) != 1 || is.na(level) || level <= 0 || level >= 1) stop("expected a level between 0 and 1", call. = FALSE)
  if (inherits(data, "candor_package")) {
    if (!is.null(design)) stop("a data package brings its own design", call. = FALSE)
    return(estimate_of_package(data, outcomes, if (missing(level)) data$results$level else level))
  }
  if (!is.data.frame(data)) stop("expected a data frame, or a data package that candor_read() read", call. = FALSE)
  if (is.null(design)) stop("expected a design: a list, or the path of a protocol.json or a design.json", call. = FALSE)
  document <- candor_design(design)
  if (identical(document$unit, "cluster")) stop(IN_SECTIONS, call. = FALSE)
  if (is.null(outcomes)) outcomes <- setdiff(names(data), c("arm", "subsample"))
  questions <- lapply(outcomes, function(name) list(name = name, column = name))
  named <- vapply(questions, function(one) !is.null(design_of_named(document, one$name)), NA)
  for (at in which(named)) questions[[at]]$design <- design_of_named(document, outcomes[at])
  protocol <- list(design = document, questions = questions[!named], category_questions = questions[named])
  estimated(checked_rows(data, protocol), protocol, list(level = level))
}

# The design of a question whose answers are named: the one that was given, or that of the question or column of this name in a protocol.
design_of_named <- function(document, name) {
  if (!is.null(document$categories)) return(document)
  for (one in document$category_questions) if (name %in% c(one$name, one$column)) return(one$design)
  NULL
}

estimate_of_package <- function(package, outcomes, level) {
  protocol <- package$protocol
  every <- c(protocol$questions, protocol$category_questions)
  names <- vapply(every, `[[`, "", "name")
  if (is.null(outcomes)) outcomes <- names
  if (length(unknown <- setdiff(outcomes, names))) {
    stop(sprintf("the package has the questions %s; %s is none of them", paste(names, collapse = ", "), unknown[1]), call. = FALSE)
  }
  if (identical(protocol$allocation$unit, "cluster")) {
    stop(IN_SECTIONS, call. = FALSE)
  }
  chosen <- every[match(outcomes, names)]
  named <- !vapply(chosen, function(one) is.null(one$design), NA)
  protocol$questions <- chosen[!named]
  protocol$category_questions <- chosen[named]
  results <- package$results
  if (!is.null(level)) results$level <- level
  estimated(checked_rows(package$data, protocol), protocol, results)
}

# The words for no and yes, as the Python library reads them.
YES_NO <- c("0" = "0", "0.0" = "0", "0,0" = "0", no = "0", false = "0", "1" = "1", "1.0" = "1", "1,0" = "1", yes = "1", true = "1")

# The texts of a column without spaces around them, empty where nothing is written.
written <- function(column) ifelse(is.na(column), "", trimws(as.character(column), whitespace = "[\\h\\v]"))

# Arms, subsamples and answers as text, as replicate.R reads them; whatever is not understood is refused by column and row.
checked_rows <- function(data, protocol) {
  questions <- c(protocol$questions, protocol$category_questions)
  columns <- vapply(questions, `[[`, "", "column")
  if (length(absent <- setdiff(c("arm", "subsample", columns), names(data)))) {
    stop(sprintf("expected the columns arm, subsample and one for each question; %s is missing", paste(absent, collapse = ", ")), call. = FALSE)
  }
  if (!length(columns)) stop("expected at least one column of answers beside arm and subsample", call. = FALSE)
  document <- protocol$design
  known <- list(arm = unlist(document$arms), subsample = names(document$subsamples))
  for (name in names(known)) {
    given <- match(written(data[[name]]), trimws(known[[name]]))
    if (length(wrong <- which(is.na(given)))) {
      stop(sprintf("%s, row %d: expected one of %s, found %s", name, wrong[1], paste(known[[name]], collapse = ", "), data[[name]][wrong[1]]), call. = FALSE)
    }
    data[[name]] <- known[[name]][given]
  }
  for (one in questions) {
    words <- if (is.null(one$design)) YES_NO else stats::setNames(nm = named_design(one$design)$answers)
    text <- tolower(written(data[[one$column]]))
    codes <- match(text, tolower(names(words)))
    missing <- text %in% c("", "na", "nan")
    if (length(wrong <- which(is.na(codes) & !missing))) {
      expected <- paste(if (is.null(one$design)) c("0", "1", "no", "yes", "false", "true") else words, collapse = ", ")
      stop(sprintf("%s, row %d: expected %s or nothing, found %s", one$column, wrong[1], expected, data[[one$column]][wrong[1]]), call. = FALSE)
    }
    data[[one$column]] <- ifelse(missing, "", words[codes])
  }
  data
}

estimated <- function(rows, protocol, results) {
  again <- recomputed(rows, protocol, results)
  outcomes <- again$outcomes
  number <- function(value) if (is.null(value)) NA_real_ else as.numeric(value)
  text <- function(value) if (is.null(value)) NA_character_ else value
  # A data frame with the columns of `row`, also where there is nothing to put into it.
  table <- function(of, row, from = outcomes) {
    found <- Map(function(question, outcome) do.call(rbind, lapply(of(outcome), row, question = question)), names(from), from)
    found <- do.call(rbind, c(list(row(list(), question = "")[0, ]), found))
    rownames(found) <- NULL
    found
  }
  effects <- table(function(outcome) outcome$effects, function(one, question) data.frame(
    question = question, treatment = text(one$treatment), control = text(one$control), method = text(one$method),
    estimate = number(one$value), std_error = number(one$standard_error), wald_low = number(one$wald$low), wald_high = number(one$wald$high),
    fieller = text(one$fieller$kind), fieller_low = number(one$fieller$low), fieller_high = number(one$fieller$high),
    p_value = number(one$p_value), adjusted_p_value = number(one$adjusted_p_value)
  ))
  prevalence <- table(function(outcome) outcome$prevalence, function(one, question) data.frame(
    question = question, arm = text(one$arm), estimate = number(one$value), std_error = number(one$standard_error)
  ))
  questions <- table(list, function(one, question) data.frame(
    question = question, n = number(one$n), cheaters = number(one$cheater_proportion$value), cheaters_raw = number(one$cheater_proportion$raw),
    cheaters_std_error = number(one$cheater_proportion$standard_error), cheaters_low = number(one$cheater_proportion$interval$low),
    cheaters_high = number(one$cheater_proportion$interval$high), test_statistic = number(one$specification_test$statistic),
    test_df = number(one$specification_test$df), test_p_value = number(one$specification_test$p_value)
  ), c(outcomes, again$categories))
  answer_effects <- table(function(outcome) outcome$effects, function(one, question) data.frame(
    question = question, treatment = text(one$treatment), control = text(one$control), measure = text(one$measure),
    category = text(one$category), estimate = number(one$value), std_error = number(one$standard_error), low = number(one$interval$low),
    high = number(one$interval$high), wald_low = number(one$wald$low), wald_high = number(one$wald$high), p_value = number(one$p_value),
    adjusted_p_value = number(one$adjusted_p_value)
  ), again$categories)
  answer_shares <- table(function(outcome) outcome$prevalence, function(one, question) data.frame(
    question = question, arm = text(one$arm), measure = text(one$measure), category = text(one$category), estimate = number(one$value),
    std_error = number(one$standard_error), low = number(one$interval$low), high = number(one$interval$high)
  ), again$categories)
  answer_tests <- table(function(outcome) outcome$no_effect, function(one, question) data.frame(
    question = question, treatment = text(one$treatment), control = text(one$control), statistic = number(one$statistic),
    df = number(one$df), p_value = number(one$p_value), adjusted_p_value = number(one$adjusted_p_value)
  ), again$categories)
  alone <- vapply(c(outcomes, again$categories), function(one) identical(names(one), "n"), NA)
  unanswered <- names(alone)[alone]
  # Of raw data nobody has tested by likelihood whether they contradict the design: candor_read() brings that test along.
  tested <- all(vapply(protocol$questions, function(one) !is.null(results$outcomes[[one$name]]), NA))
  level <- if (is.null(results$level)) 0.95 else results$level
  found <- list(
    effects = effects, prevalence = prevalence, questions = questions, answer_effects = answer_effects, answer_shares = answer_shares,
    answer_tests = answer_tests, unanswered = unanswered, tested = tested, level = level, design = protocol$design
  )
  structure(found, class = "candor_estimate")
}

as.data.frame.candor_estimate <- function(x, row.names = NULL, optional = FALSE, ...) x$effects

print.candor_estimate <- function(x, digits = 3, ...) {
  if (nrow(x$effects)) {
    cat(sprintf("Effects among people who follow the die, with intervals of %g %%\n", 100 * x$level))
    shown <- x$effects[c("question", "treatment", "control", "method", "estimate", "std_error", "fieller_low", "fieller_high", "p_value")]
    print(shown, digits = digits, row.names = FALSE)
  }
  if (nrow(x$prevalence)) {
    cat("\nYes among them, by arm\n")
    print(x$prevalence, digits = digits, row.names = FALSE)
  }
  if (nrow(x$answer_tests)) {
    cat("\nTests of no effect on any of the named answers\n")
    print(x$answer_tests[c("question", "treatment", "control", "statistic", "df", "p_value")], digits = digits, row.names = FALSE)
  }
  if (nrow(x$answer_effects)) {
    cat(sprintf("\nEffects on named answers, with intervals by likelihood of %g %%\n", 100 * x$level))
    shown <- x$answer_effects[c("question", "treatment", "control", "measure", "category", "estimate", "std_error", "low", "high", "p_value")]
    print(shown, digits = digits, row.names = FALSE)
  }
  if (nrow(x$answer_shares)) {
    cat("\nShares of named answers, by arm\n")
    print(x$answer_shares, digits = digits, row.names = FALSE)
  }
  cat("\nPeople who do not follow the die\n")
  print(x$questions[c("question", "n", "cheaters", "cheaters_std_error", "test_p_value")], digits = digits, row.names = FALSE)
  if (length(x$unanswered)) {
    say(c("", sprintf("%s: %s, so that nothing can be estimated.", paste(x$unanswered, collapse = ", "), NOBODY_ANSWERED)))
  }
  cat("\nNA: not told by the design or, of yes/no questions, at the edge of what is possible; Candor's own library gives the likelihood region there.\n")
  if (!x$tested) cat("Whether the answers contradict the design was not tested by likelihood: `candor estimate` does that.\n")
  invisible(x)
}
