"""One file for each group of requests: from a document and the request's parameters to the protocol's answer."""
