//! Experiment text to plan
