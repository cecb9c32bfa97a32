"""Single sign-on by SAML: what the libraries leave open, and the way out."""
