package dev.bourse.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says why a test, or each test of a class, takes more than two seconds on an idle machine. {@link
 * SlowestTests} prints the slow tests without a reason; it fails no build, because times vary.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Slow {
  /** The wait or the computation that the test needs. */
  String value();
}
