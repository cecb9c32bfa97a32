# A forest plot in base graphics.

plot.candor_estimate <- function(x, method = "efficient", ...) {
  if (!nrow(x$effects)) stop("there are no effects to plot: the study has one arm", call. = FALSE)
  methods <- unique(x$effects$method)
  if (length(method) != 1 || !method %in% methods) {
    stop(sprintf("expected one of the methods %s, found %s", paste(methods, collapse = ", "), paste(method, collapse = ", ")), call. = FALSE)
  }
  rows <- x$effects[x$effects$method == method, ]
  at <- rev(seq_len(nrow(rows)))
  labels <- sprintf("%s: %s", rows$question, rows$treatment)
  before <- graphics::par(mar = c(4.5, min(18, 2 + max(nchar(labels)) / 2), 2, 1))
  on.exit(graphics::par(before))
  # An interval without a bound is drawn to both ends of the scale, dashed.
  open <- rows$fieller %in% "unbounded"
  low <- ifelse(open, -1, rows$fieller_low)
  high <- ifelse(open, 1, rows$fieller_high)
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
