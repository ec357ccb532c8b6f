"""The plan: everything an audit needs, checked before anything is measured."""
