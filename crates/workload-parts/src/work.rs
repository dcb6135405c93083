//! The CPU work of our workloads: schbench's matrix product.
//!
//! An amount of work is a number of products, never a time: a loop calibrated
//! to take so many microseconds would hide exactly the differences (frequency,
//! cache, steal) that a trial is run to see.

use std::hint::black_box;

/// Three square matrices that together fill a footprint.
#[derive(Debug)]
pub struct Matrices {
    side: usize,
    left: Vec<u64>,
    right: Vec<u64>,
    product: Vec<u64>,
}

impl Matrices {
    /// Matrices whose three bodies fit `footprint_bytes`, as schbench computes
    /// their side: sqrt(bytes / 3 / 8). Every page is touched.
    pub fn new(footprint_bytes: u64) -> Self {
        let cells = usize::try_from(footprint_bytes / 3 / 8).unwrap_or(usize::MAX).max(1);
        let side = cells.isqrt().max(1);
        let fill = |seed: u64| (0..side * side).map(|cell| cell as u64 ^ seed).collect();
        Self { side, left: fill(3), right: fill(5), product: fill(0) }
    }

    /// One naive product. The running sum is stored at every step, as schbench's
    /// C aliasing forces it to be: kept in a register it would cost a fraction.
    #[inline(never)]
    pub fn multiply(&mut self) {
        let side = self.side;
        for row in 0..side {
            let left = &self.left[row * side..][..side];
            for column in 0..side {
                let cell = &raw mut self.product[row * side + column];
                // SAFETY: `cell` points into `product`, which nothing else uses here.
                unsafe { cell.write_volatile(0) };
                for (step, factor) in left.iter().enumerate() {
                    let other = self.right[step * side + column];
                    // SAFETY: as above.
                    unsafe {
                        let sum = cell.read_volatile();
                        cell.write_volatile(sum.wrapping_add(factor.wrapping_mul(other)));
                    }
                }
            }
        }
        black_box(&self.product);
    }

    /// So many products.
    #[inline]
    pub fn multiply_times(&mut self, operations: u64) {
        for _ in 0..operations {
            self.multiply();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_is_a_matrix_product() {
        let mut matrices = Matrices::new(3 * 8 * 4);
        assert_eq!(matrices.side, 2);
        matrices.left = vec![1, 2, 3, 4];
        matrices.right = vec![5, 6, 7, 8];
        matrices.multiply();
        assert_eq!(matrices.product, [19, 22, 43, 50]);
    }

    #[test]
    fn the_side_is_schbenchs() {
        assert_eq!(Matrices::new(256 * 1024).side, 104);
        assert_eq!(Matrices::new(1).side, 1);
    }
}
