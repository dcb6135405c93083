//! The view model and its renderers
