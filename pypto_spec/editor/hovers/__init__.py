"""The texts of hovers, by what is under the cursor. All are Markdown, in lists that also read well as plain text."""
