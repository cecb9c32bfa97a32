"""The languages of participants’ pages and the catalogues of their words. Pure; `docs/languages.md` says how a language is added."""
