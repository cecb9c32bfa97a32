"""Figures as SVG for page and paper: every mark has a class, which the page's style sheet may recolour, and attributes for paper."""
