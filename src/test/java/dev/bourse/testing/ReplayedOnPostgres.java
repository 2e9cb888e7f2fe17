package dev.bourse.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The rules of this class hold whichever engine keeps the rows: its services run on the embedded
 * store, and when one closes, {@link PostgresReplay} carries out its statements on PostgreSQL and
 * compares. A class that needs the other engine itself is {@link EachEngine}'s.
 */
@ExtendWith(ReplayedOnPostgres.Switch.class)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ReplayedOnPostgres {
  /** Says whether the services that start now are replayed. A process runs one class at a time. */
  final class Switch implements BeforeAllCallback, AfterAllCallback {
    private static volatile boolean isOn;

    static boolean isOn() {
      return isOn;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
      isOn = true;
    }

    @Override
    public void afterAll(ExtensionContext context) {
      isOn = false;
    }
  }
}
