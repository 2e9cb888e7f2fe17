package dev.bourse.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A class whose rules depend on the engine itself: on its locks, its leases and clock, its driver,
 * on several processes or on lost connections. The build runs it on the embedded store and once
 * more on PostgreSQL. A single test in it may be {@link OneEngine}'s; rules of features are {@link
 * ReplayedOnPostgres}.
 */
@Tag("each-engine")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface EachEngine {}
