//! Numerics only: distributions, tests, corrections, power
