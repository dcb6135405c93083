//! Factors: one file for each thing that can be set
