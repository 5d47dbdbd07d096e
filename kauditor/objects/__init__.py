"""Typed views of Kubernetes objects: only the fields that facts read.

Every field has a default, because an absent field is normal and a strange one must not cost a
page. Strings keep the server's spelling (camelCase is mapped by ``rename``).
"""
