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
is_named <- vapply(cases, function(case) length(case$protocol$category_questions) > 0, NA)
named_cases <- cases[is_named]
cases <- cases[!is_named]
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

# ---- Questions whose answers are named: from a package, and from a data frame with the design alone.

numbers <- 0L
for (number in seq_along(named_cases)) {
  case <- named_cases[[number]]
  data <- written(case, file.path(tempdir(), paste0("named", number)))
  package <- structure(list(path = "case", protocol = case$protocol, results = case$results, data = data), class = "candor_package")
  values <- candor_compare(package)
  if (!all(values$same)) stop(paste(values$place[!values$same][1], "is not that of the library"))
  numbers <- numbers + nrow(values)
  named <- candor_estimate(package)
  stopifnot(setequal(named$questions$question, names(case$results$categories)))
  for (question in names(case$results$categories)) {
    published <- case$results$categories[[question]]
    effects <- named$answer_effects[named$answer_effects$question == question, ]
    for (at in seq_along(published$effects)) {
      one <- published$effects[[at]]
      check(effects$estimate[at], one$value, question)
      check(effects$low[at], one$interval$low, question)
      check(effects$wald_high[at], one$wald$high, question)
      check(effects$adjusted_p_value[at], one$adjusted_p_value, question)
    }
    shares <- named$answer_shares[named$answer_shares$question == question, ]
    for (at in seq_along(published$prevalence)) check(shares$high[at], published$prevalence[[at]]$interval$high, question)
    check(named$questions$cheaters_low[named$questions$question == question], published$cheater_proportion$interval$low, question)
  }
  of_one <- case$protocol$category_questions[[1]]
  if (is.null(of_one$purpose)) {
    alone <- candor_estimate(data[c("arm", "subsample", of_one$column)], of_one$design)
    stopifnot(identical(alone$answer_effects$estimate, named$answer_effects$estimate[named$answer_effects$question == of_one$name]))
    again <- candor_estimate(data[c("arm", "subsample", of_one$column)], case$protocol)
    stopifnot(identical(alone$answer_effects, again$answer_effects), alone$tested)
  }
}
cat(numbers, "numbers about named answers are those of the library\n")
stopifnot(numbers > 1000L)

grDevices::pdf(NULL)
two_arms <- Find(function(case) length(case$protocol$design$arms) > 1, named_cases)
named <- candor_estimate(written(two_arms, file.path(tempdir(), "two")), two_arms$protocol, outcomes = "answer_of_300")
stopifnot(nrow(plot(named)) > 0, nrow(named$effects) == 0, any(grepl("named answers", capture.output(print(named)))))
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
unlike <- changed(yes = replace(as.numeric(fine$yes), 3, NaN))
stopifnot(candor_estimate(unlike, design)$questions$n == nrow(fine) - 1)
numbers_for_texts <- design
numbers_for_texts$subsamples <- lapply(design$subsamples, function(rule) lapply(rule, function(one) eval(parse(text = one))))
stopifnot(is.numeric(numbers_for_texts$subsamples[[1]]$forced_no))
stopifnot(identical(candor_estimate(fine, numbers_for_texts)$effects, candor_estimate(fine, design)$effects))
stopifnot(identical(candor:::fraction(-0.5), c(-1, 2)), identical(candor:::fraction(1 / 3), c(1, 3)), identical(candor:::fraction(0), c(0, 1)))
stopifnot(anyNA(candor:::fraction(NA_real_)))
refused(candor_estimate(changed(yes = replace(fine$yes, 3, 2)), design), "yes, row 3: expected 0, 1, no, yes, false, true or nothing, found 2")
refused(candor_estimate(changed(arm = replace(fine$arm, 5, "x")), design), "arm, row 5: expected one of")
refused(candor_estimate(changed(subsample = NA), design), "subsample, row 1: expected one of")
refused(candor_estimate(fine[c("arm", "yes")], design), "subsample is missing")
refused(candor_estimate(fine[c("arm", "subsample")], design), "at least one column of answers")
refused(candor_estimate(fine), "expected a design")
refused(candor_estimate(1:3, design), "expected a data frame")
refused(candor_estimate(fine, design, level = 95), "expected a level between 0 and 1")
refused(candor_estimate(fine, list(design = design, allocation = list(unit = "cluster"))), "assigned whole sections")
refused(candor_estimate(fine, "absent.json"), "there is nothing at absent.json")
refused(candor_design(list(arms = "a")), "this one has no control")
refused(candor_design(utils::modifyList(design, list(control = "x"))), "the control is one of the arms")
wrong <- utils::modifyList(design, list(subsamples = list("1" = list(forced_no = "5/6", forced_yes = "1/6"))))
refused(candor_design(wrong), "with a sum below 1, found 5/6 and 1/6")
for (word in c("many", "0,33", "1/x")) {
  wrong$subsamples[["1"]]$forced_no <- word
  refused(candor_design(wrong), sprintf("with a sum below 1, found %s and 1/6", word))
}
same_dice <- design
same_dice$subsamples[[2]] <- same_dice$subsamples[[1]]
if (length(same_dice$subsamples) == 2) refused(candor_design(same_dice), "expected subsamples with different dice")
for (model in list("alway_no", list(always = "never"), list(yes_rate = "3/2"), list(yes_rate = "half"), 1)) {
  refused(candor_design(replace(design, "cheater_model", list(model))), "expected a cheater_model that is \"any\"")
}
stopifnot(is.list(candor_design(replace(design, "cheater_model", list(list(yes_rate = "1/4"))))))
refused(plot(named, answers = FALSE), "all questions have named answers")
refused(plot(found, answers = TRUE), "no question has named answers")
never <- two_arms$protocol$category_questions[[1]]$design
row <- data.frame(arm = never$arms[[1]], subsample = "1", copying = "sometimes")
refused(candor_estimate(row, never), "copying, row 1: expected never, once")
refused(candor_design(utils::modifyList(never, list(categories = c("never", "never")))), "2 to 6 different categories")
refused(candor_design(utils::modifyList(never, list(scores = c(2, 1, 3)))), "increasing scores, one for each category")
refused(candor_design(utils::modifyList(never, list(cheater_model = "always_no"))), "expected a cheater_model that is")
refused(candor_design(utils::modifyList(never, list(subsamples = list("1" = list(once = NULL))))), "once is missing")
refused(candor_read("absent.zip"), "there is nothing at absent.zip")
refused(candor_read("cases.json"), "is neither a folder nor a ZIP file")
refused(candor_read(tempdir()), "it has no protocol.json")
one_arm <- candor_estimate(fine[fine$arm == unlist(design$arms)[1], ], utils::modifyList(design, list(arms = unlist(design$arms)[1], allocation = NULL)))
stopifnot(nrow(one_arm$effects) == 0, identical(names(one_arm$effects), names(found$effects)))
refused(plot(one_arm), "the study has one arm")
others <- fine
others[others$arm == unlist(design$arms)[2], setdiff(names(fine), c("arm", "subsample"))[1]] <- NA
nobody <- candor_estimate(others, design)
stopifnot(identical(nobody$unanswered, setdiff(names(fine), c("arm", "subsample"))[1]), !length(candor_estimate(fine, design)$unanswered))
stopifnot(any(grepl("in some arm of some subsample nobody answered", utils::capture.output(print(nobody)))))
refused(plot(candor_estimate(fine[fine$arm == unlist(design$arms)[1], ], design)), "in some arm of some subsample nobody answered")
refused(plot(found, method = "magic"), "expected one of the methods")
refused(candor_compare(fine), "expected a data package")
