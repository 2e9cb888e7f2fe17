package dev.bourse.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/** What is tested needs one engine, which the test brings along; the build runs it once. */
@Tag("one-engine")
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface OneEngine {
  /** Why another engine has no part in it, and which test is its counterpart there, if any. */
  String value();
}
