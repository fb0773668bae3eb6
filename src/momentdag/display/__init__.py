"""What is shown: figures by plotly, and tables as escaped HTML or as plain text.

Everything here takes plain values, tables and arrays, and knows no other part of momentdag.
"""
