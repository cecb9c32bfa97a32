# Numbers of psychotools and eRm for test_conditional_likelihood.py: Rscript conditional_likelihood.R LSAT6.csv > conditional_likelihood.json
# LSAT6.csv: a header, then 1000 rows of five answers. The other data come with the packages; their answers are not repeated here.
suppressMessages({library(psychotools); library(eRm)})

# Difficulties with sum 0, their standard errors and the log-likelihood.
of_psychotools <- function(answers) {
  model <- raschmodel(answers, reltol = 1e-14, maxit = 1000)
  items <- itempar(model, ref = NULL)
  list(difficulties = as.vector(coef(items)), standard_errors = as.vector(sqrt(diag(vcov(items)))), log_likelihood = as.numeric(logLik(model)))
}
of_erm <- function(answers) {
  model <- RM(answers, se = TRUE, sum0 = TRUE)
  list(difficulties = as.vector(-model$betapar), standard_errors = as.vector(model$se.beta), log_likelihood = model$loglik)
}
number <- function(x) paste0("[", paste(sprintf("%.9g", x), collapse = ", "), "]")
entry <- function(data, program, fit, answers) sprintf(
  '  {"data": "%s", "program": "%s",\n   "totals": %s,\n   "score_counts": %s,\n   "difficulties": %s,\n   "standard_errors": %s,\n   "log_likelihood": %.9g}',
  data, program, number(colSums(answers, na.rm = TRUE)),
  number(tabulate(rowSums(answers, na.rm = TRUE) + 1, ncol(answers) + 1)),
  number(fit$difficulties), number(fit$standard_errors), fit$log_likelihood)

lsat6 <- as.matrix(read.csv(commandArgs(TRUE)[1]))
omitted <- lsat6
for (person in seq_len(nrow(omitted))) for (item in seq_len(ncol(omitted))) if ((7 * person + 3 * item) %% 11 == 0) omitted[person, item] <- NA
data("MathExam14W", package = "psychotools")
data("raschdat1", package = "eRm")
exam <- as.matrix(MathExam14W$solved)
tables <- list(LSAT6 = lsat6, "LSAT6 with omissions" = omitted, MathExam14W = exam, raschdat1 = as.matrix(raschdat1))
entries <- unlist(lapply(names(tables), function(name) {
  answers <- matrix(as.integer(tables[[name]]), nrow(tables[[name]]))
  c(entry(name, "psychotools", of_psychotools(answers), answers), entry(name, "eRm", of_erm(answers), answers))
}))
versions <- sprintf("%s, psychotools %s, eRm %s", R.version.string, packageVersion("psychotools"), packageVersion("eRm"))
cat(sprintf('{"made_with": "%s",\n "results": [\n%s\n]}\n', versions, paste(entries, collapse = ",\n")))
