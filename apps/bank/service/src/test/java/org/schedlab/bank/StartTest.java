package org.schedlab.bank;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ConnectException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class StartTest {

    @Test
    void profilesAreSplitAsSpringSplitsThem() {
        assertThat(Bank.profiles(null)).isEmpty();
        assertThat(Bank.profiles("")).isEmpty();
        assertThat(Bank.profiles(" postgres ,x,")).containsExactly("postgres", "x");
    }

    @Test
    void theReasonIsOneLineAndNamesTheAddressOfADatabase() {
        var socket = new ConnectException("refused");
        var database = new SQLException("Connection to 127.0.0.1:5432 refused.\nCheck it.", socket);
        assertThat(Bank.reason(new IllegalStateException("bean", database)))
                .isEqualTo("Connection to 127.0.0.1:5432 refused.");
        assertThat(Bank.reason(new IllegalStateException("bean", socket))).isEqualTo("refused");
    }
}
