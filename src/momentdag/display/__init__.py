"""What a notebook shows: figures by plotly, and tables as escaped HTML.

Everything here takes plain values, tables and arrays, and knows no other part of momentdag.
"""
