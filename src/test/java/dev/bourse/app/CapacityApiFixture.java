package dev.bourse.app;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A stage of its own for each test of capacity over HTTP. */
abstract class CapacityApiFixture {
  static final String CAPACITY = "/api/vm/capacity";

  static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.staged(32);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }
}
