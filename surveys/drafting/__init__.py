"""A draft in the making, without a database: its parts, the forms that edit them, the document that a new study starts from."""
