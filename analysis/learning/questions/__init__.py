"""The question desk: statistical questions about a source, asked by a form or by programs. `candor.queries` computes and proves them."""
