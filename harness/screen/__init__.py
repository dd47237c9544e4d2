"""What people see: tables, JSON documents, progress."""
