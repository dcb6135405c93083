package org.schedlab.bank;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIf;
import org.schedlab.bank.settings.Postgres;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.ContextConfiguration;

/** Runs the tests of a class, its inherited ones too, against a bank on a real PostgreSQL. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIf(value = "org.schedlab.bank.PostgresServer#canRun", disabledReason = "PostgreSQL cannot run here")
@ActiveProfiles(Postgres.PROFILE)
@ContextConfiguration(initializers = PostgresServer.class)
public @interface OnPostgres {
}
