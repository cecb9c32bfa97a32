"""Commands about student records and tables that are to be published."""
