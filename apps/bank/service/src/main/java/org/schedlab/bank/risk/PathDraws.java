package org.schedlab.bank.risk;

/**
 * Random numbers of one path: SplitMix64, and a sum of uniforms in place of a normal draw.
 *
 * <p>Only exact integer and IEEE operations are used, so that a path has the same bits on every JVM.
 */
final class PathDraws {

    private static final long GAMMA = 0x9E3779B97F4A7C15L;
    private static final int UNIFORMS = 12;
    private static final int BITS = 53;
    private static final double UNIT = 0x1.0p-53;

    private long state;

    PathDraws(long seed, long account, long path) {
        state = mix(mix(mix(seed) ^ account) ^ path);
    }

    /** Twelve uniforms less their mean have variance one (Irwin-Hall). */
    double nearlyNormal() {
        double sum = 0;
        for (int i = 0; i < UNIFORMS; i++) {
            sum += uniform();
        }
        return sum - UNIFORMS / 2.0;
    }

    private double uniform() {
        state += GAMMA;
        return (mix(state) >>> (Long.SIZE - BITS)) * UNIT;
    }

    static long mix(long bits) {
        long mixed = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
