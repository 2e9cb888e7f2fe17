package dev.bourse.testing;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A market of its own for each test of capacity over HTTP. */
public abstract class CapacityApiFixture {
  protected static final String CAPACITY = "/api/vm/capacity";

  protected static RunningBourse bourse;

  @BeforeAll
  protected static void start() {
    bourse = RunningBourse.withMarkets(32);
  }

  @AfterAll
  protected static void stop() {
    bourse.close();
  }
}
