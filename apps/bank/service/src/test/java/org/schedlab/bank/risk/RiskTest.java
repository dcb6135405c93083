package org.schedlab.bank.risk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.schedlab.bank.problem.Refusal;

class RiskTest {

    private final RiskPool pool = new RiskPool(3, 60_000);

    @AfterEach
    void close() {
        pool.close();
    }

    /** The bits must never change: a driver compares them between runs and machines. */
    @Test
    void theChecksumOfAQuestionIsPinned() {
        assertThat(pool.answer(new RiskQuestion(7, 1, 2_000, 3)).checksum()).isEqualTo("07ae95a700bd053e");
    }

    @Test
    void neitherTasksNorWorkersChangeTheAnswer() {
        RiskPool alone = new RiskPool(1, 60_000);
        RiskView whole = alone.answer(new RiskQuestion(1, 5, 500, 1));
        RiskView cut = pool.answer(new RiskQuestion(1, 5, 500, 64));
        alone.close();
        assertThat(cut.checksum()).isEqualTo(whole.checksum());
        assertThat(cut.mean()).isEqualTo(whole.mean());
        assertThat(cut.valueAtRisk()).isEqualTo(whole.valueAtRisk());
    }

    @Test
    void seedAccountAndPathsChangeTheAnswer() {
        String checksum = pool.answer(new RiskQuestion(1, 1, 100, 1)).checksum();
        assertThat(pool.answer(new RiskQuestion(2, 1, 100, 1)).checksum()).isNotEqualTo(checksum);
        assertThat(pool.answer(new RiskQuestion(1, 2, 100, 1)).checksum()).isNotEqualTo(checksum);
        assertThat(pool.answer(new RiskQuestion(1, 1, 101, 1)).checksum()).isNotEqualTo(checksum);
    }

    @Test
    void theOutcomesAreThoseOfTheModel() {
        RiskView view = pool.answer(new RiskQuestion(1, 1, 20_000, 8));
        // 100 steps of drift 0.0002: the mean is 1.0002^100 = 1.0202, its error 0.12 / sqrt(20000).
        assertThat(view.mean()).isBetween(1.0166, 1.0238);
        // A deviation of 0.12 puts the loss of one in a hundred near 1 - exp(0.0128 - 2.33 * 0.12).
        assertThat(view.valueAtRisk()).isBetween(0.20, 0.27);
    }

    @ParameterizedTest
    @CsvSource({"0,1", "-1,1", "200001,1", "1,0", "1,65"})
    void aQuestionOutOfBoundsIsRefused(int paths, int tasks) {
        assertThatThrownBy(() -> new RiskQuestion(1, 1, paths, tasks)).isInstanceOf(Refusal.class);
    }

    @Test
    void moreTasksThanPathsAreFine() {
        assertThat(pool.answer(new RiskQuestion(1, 1, 1, 64)).paths()).isEqualTo(1);
    }

    @Test
    @Timeout(240)
    void aQuestionThatTakesTooLongIsDropped() {
        RiskPool hasty = new RiskPool(1, 1);
        assertThatThrownBy(() -> hasty.answer(new RiskQuestion(1, 1, 200_000, 64)))
                .isInstanceOf(Refusal.class).hasMessageContaining("within 1 ms");
        hasty.close();
    }

    @Test
    @Timeout(240)
    void anInterruptedCallerGivesUpItsTasks() throws InterruptedException {
        RiskPool single = new RiskPool(1, 60_000);
        Thread caller = new Thread(() -> {
            for (int i = 0; i < 1_000 && !Thread.currentThread().isInterrupted(); i++) {
                try {
                    single.answer(new RiskQuestion(1, 1, 200_000, 1));
                } catch (Refusal givenUp) {
                    return;
                }
            }
        });
        caller.start();
        Thread.sleep(100);
        caller.interrupt();
        caller.join(Duration.ofSeconds(50).toMillis());
        assertThat(caller.isAlive()).isFalse();
        assertThat(single.answer(new RiskQuestion(1, 1, 10, 1)).paths()).isEqualTo(10);
        single.close();
    }
}
