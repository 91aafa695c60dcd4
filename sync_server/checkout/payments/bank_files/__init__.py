"""Statements of a bank: read, matched with orders, shown, and noted once confirmed. No file is stored."""
