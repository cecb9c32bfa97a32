# Checks a design as the Python library does: what that refuses is refused here, and what that reads is read.

KEYS <- c("arms", "control", "subsamples", "cheater_model", "allocation", "categories", "ordered", "scores", "reanalysis")
MADE_HERE <- c("category_questions", "unit")  # what candor_design() adds, so that its own answer is a design
NUMBER <- "^\\s*[+-]?([0-9]+(/[0-9]+)?|([0-9]+\\.?[0-9]*|\\.[0-9]+)(e[+-]?[0-9]{1,3})?)\\s*$"

expect <- function(fine, ...) if (!isTRUE(fine)) stop(sprintf(...), call. = FALSE)
listed <- function(values) paste(vapply(values, function(one) paste(format(unlist(one)), collapse = " "), ""), collapse = ", ")
are_names <- function(names) is.character(names) && all(nzchar(trimws(names))) && !anyDuplicated(trimws(names))

# A number, a decimal or a fraction as two whole numbers, exactly; NULL for everything else.
exact <- function(value) {
  is_number <- length(value) == 1 && (is.numeric(value) || is.character(value) && grepl(NUMBER, value, ignore.case = TRUE))
  found <- if (is_number) fraction(value)
  if (isTRUE(is.finite(found[1] / found[2]))) found
}

chance <- function(value) {
  found <- exact(value)
  if (isTRUE(found[1] >= 0 && found[1] <= found[2])) found
}

# The chances of several things, each with its name, that are to add up to one; NULL if they are something else.
chances_of <- function(values, names) {
  found <- lapply(as.list(values), chance)
  if (length(found) && setequal(names(found), names) && !anyDuplicated(names(found)) && !any(vapply(found, is.null, NA))) found
}

checked_design <- function(design) {
  for (name in c("arms", "control", "subsamples")) {
    expect(!is.null(design[[name]]), "a design has arms, control and subsamples; this one has no %s", name)
  }
  for (name in intersect(c("cheater_model", "categories", "ordered", "reanalysis"), names(design))) {
    expect(!is.null(design[[name]]), "expected a value for %s, found null: leave it out for the usual one", name)
  }
  unknown <- setdiff(names(design), c(KEYS, MADE_HERE))
  expect(!length(unknown), "a design has no %s; it may have %s", paste(unknown, collapse = ", "), paste(KEYS, collapse = ", "))
  arms <- unlist(design$arms)
  expect(length(arms) && are_names(arms), "expected arms with names that differ, found %s", listed(design$arms))
  control <- design$control
  expect(is.character(control) && length(control) == 1 && control %in% arms, "the control is one of the arms %s; it is %s", paste(arms, collapse = ", "), listed(control))
  for (name in c("ordered", "reanalysis")) {
    given <- design[[name]]
    expect(is.null(given) || isTRUE(given) || isFALSE(given), "expected TRUE or FALSE for %s, found %s", name, listed(given))
  }
  answers <- checked_answers(design$categories)
  if (is.null(answers)) design$categories <- NULL
  design$subsamples <- checked_subsamples(design$subsamples, answers, isTRUE(design$reanalysis))
  checked_allocation(design$allocation, list(arms = arms, subsamples = names(design$subsamples)))
  # In order without scores: 0, 1, 2 and so on.
  if (!length(design$scores)) design$scores <- if (isTRUE(design$ordered)) as.list(seq_along(answers) - 1)
  if (length(design$scores)) {
    scores <- vapply(lapply(design$scores, exact), function(one) if (is.null(one)) NA_real_ else one[1] / one[2], 1)
    expect(
      length(scores) == max(length(answers), 2) && all(diff(scores) > 0), "expected increasing scores, one for each category, found %s",
      listed(design$scores)
    )
  }
  design$cheater_model <- checked_cheaters(design$cheater_model, answers)
  design
}

# The names of the answers; NULL for a yes/no question.
checked_answers <- function(categories) {
  answers <- unlist(categories)
  if (is.null(categories) || identical(answers, c("no", "yes"))) return(NULL)
  small <- tolower(answers)
  expect(
    is.character(answers) && length(answers) %in% 2:6 && are_names(answers) && !anyDuplicated(small),
    "expected 2 to 6 different categories, found %s", listed(categories)
  )
  wrong <- answers[answers != trimws(answers) | small %in% c("na", "nan") | answers == "truth"]
  expect(!length(wrong), "a category needs a name without spaces around it, other than truth and NA; found '%s'", wrong[1])
  answers
}

checked_subsamples <- function(subsamples, answers, reanalysis) {
  names <- names(subsamples)
  expect(is.list(subsamples) && length(names) > 1 && are_names(names), "expected two or more subsamples, each with a name of its own")
  keys <- if (is.null(answers)) c("forced_no", "forced_yes") else answers
  dice <- list()
  for (name in names) {
    rule <- as.list(subsamples[[name]])
    if (is.null(answers) && setequal(names(rule), c("no", "yes"))) rule <- list(forced_no = rule$no, forced_yes = rule$yes)
    whole <- paste(keys, collapse = " and ")
    absent <- Filter(function(key) is.null(rule[[key]]), keys)
    expect(!length(absent), "subsample %s: expected %s; %s is missing", name, whole, paste(absent, collapse = " and "))
    expect(length(rule) == length(keys), "subsample %s: expected %s and nothing else, found %s", name, whole, paste(names(rule), collapse = " and "))
    found <- paste(vapply(rule[keys], function(one) listed(list(one)), ""), collapse = " and ")
    chances <- chances_of(rule[keys], keys)
    expect(
      !is.null(chances) && Reduce(minus, chances, c(1, 1))[1] > 0,
      "subsample %s: expected chances of forced answers from 0 to 1 with a sum below 1, found %s", name, found
    )
    expect(
      reanalysis || all(vapply(chances, function(one) one[1] > 0, NA)),
      "subsample %s: the die must force every answer with a chance above 0, or an answer reveals the truth (epsilon is infinite), found %s", name, found
    )
    subsamples[[name]] <- rule
    dice[[name]] <- lapply(unname(chances), reduced)
  }
  expect(length(unique(dice)) > 1, "expected subsamples with different dice, found all the same: nothing tells cheaters apart")
  subsamples
}

checked_allocation <- function(allocation, names) {
  expect(
    is.null(allocation) || is.list(allocation) && all(names(allocation) %in% c("arms", "subsamples", "unit")) && !is.null(names(allocation)),
    "expected an allocation with arms, subsamples and unit, found %s", listed(allocation)
  )
  expect(is.null(allocation$unit) || allocation$unit %in% c("individual", "cluster"), "the unit of the allocation is individual or cluster")
  for (of in intersect(names(names), names(allocation))) {
    shares <- vapply(chances_of(allocation[[of]], names[[of]]), function(one) one[1] / one[2], 1)
    expect(
      length(shares) && all(shares > 0) && abs(sum(shares) - 1) <= 0.01 + 1e-12,
      "expected an allocation of %s that gives %s chances above 0 with a sum of 1, found %s", of, paste(names[[of]], collapse = " and "),
      listed(allocation[[of]])
    )
  }
}

# The assumption about people who do not follow the die, of yes/no questions in the words for these.
checked_cheaters <- function(model, answers) {
  if (is.null(model) || identical(model, "unknown") || identical(model, "any")) return("any")
  yes_no <- is.null(answers)
  if (yes_no) answers <- c("no", "yes")
  if (yes_no && (identical(model, "always_no") || identical(model, "always_yes"))) return(model)
  kind <- if (is.list(model) && length(model) == 1) names(model)
  said <- if (!is.null(kind)) model[[1]]
  if (yes_no && identical(kind, "yes_rate") && !is.null(chance(said))) return(model)
  if (identical(kind, "always") && is.character(said) && length(said) == 1 && said %in% answers) {
    return(if (yes_no) paste0("always_", said) else model)
  }
  if (identical(kind, "distribution")) {
    shares <- chances_of(said, names(said))
    if (length(shares) > 1 && all(names(shares) %in% answers) && Reduce(minus, shares, c(1, 1))[1] == 0) {
      return(if (yes_no) list(yes_rate = said[["yes"]]) else model)
    }
  }
  ways <- if (yes_no) "\"any\", \"unknown\", \"always_no\", \"always_yes\" or a list with a yes_rate from 0 to 1" else sprintf(
    "\"any\", or names some of %s in always, or in distribution with chances that add up to 1", paste(answers, collapse = ", ")
  )
  expect(FALSE, "expected a cheater_model that is %s, found %s", ways, listed(model))
}
