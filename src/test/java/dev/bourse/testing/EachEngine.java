package dev.bourse.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * The rules of this class hold whichever engine keeps the rows: the build runs it once on the
 * embedded store and once on PostgreSQL. A single test in it may be {@link OneEngine}'s.
 */
@Tag("each-engine")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface EachEngine {}
