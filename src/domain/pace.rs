//! How long to wait before a read is tried again. Pure.
