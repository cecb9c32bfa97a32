# Forest plots in base graphics.

plot.candor_estimate <- function(x, method = "efficient", answers = !nrow(x$effects), ...) {
  if (!nrow(x$effects) && !nrow(x$answer_effects)) {
    why <- if (length(x$unanswered)) NOBODY_ANSWERED else "the study has one arm"
    stop(sprintf("there are no effects to plot: %s", why), call. = FALSE)
  }
  methods <- c("efficient", "difference_in_means")
  if (length(method) != 1 || !method %in% methods) {
    stop(sprintf("expected one of the methods %s, found %s", paste(methods, collapse = ", "), paste(method, collapse = ", ")), call. = FALSE)
  }
  if (!is.logical(answers) || length(answers) != 1 || is.na(answers)) stop("expected TRUE or FALSE for answers", call. = FALSE)
  if (answers && !nrow(x$answer_effects)) stop("no question has named answers", call. = FALSE)
  if (!answers && !nrow(x$effects)) stop("all questions have named answers: plot(x, answers = TRUE)", call. = FALSE)
  # Mean scores have a scale of their own.
  rows <- if (answers) x$answer_effects[x$answer_effects$measure != "mean_score", ] else x$effects[x$effects$method == method, ]
  about <- if (answers) paste0(", ", ifelse(rows$measure == "at_least", "at least ", ""), rows$category) else ""
  labels <- paste0(rows$question, about, ": ", rows$treatment)
  # An interval without a bound is drawn to both ends of the scale, dashed.
  open <- if (answers) rep(FALSE, nrow(rows)) else rows$fieller %in% "unbounded"
  low <- if (answers) rows$low else ifelse(open, -1, rows$fieller_low)
  high <- if (answers) rows$high else ifelse(open, 1, rows$fieller_high)
  at <- rev(seq_len(nrow(rows)))
  before <- graphics::par(mar = c(4.5, min(18, 2 + max(nchar(labels)) / 2), 2, 1))
  on.exit(graphics::par(before))
  reach <- range(c(0, rows$estimate, low, high), na.rm = TRUE)
  graphics::plot(
    rows$estimate, at, xlim = reach, ylim = c(0.5, nrow(rows) + 0.5), yaxt = "n", ylab = "", pch = 19,
    xlab = sprintf("Effect among people who follow the die, %g %% interval", 100 * x$level), ...
  )
  graphics::abline(v = 0, lty = 3)
  bounded <- !is.na(low) & !is.na(high)
  graphics::segments(low[bounded], at[bounded], high[bounded], at[bounded], lty = ifelse(open[bounded], 2, 1))
  graphics::axis(2, at = at, labels = labels, las = 1)
  invisible(rows)
}
