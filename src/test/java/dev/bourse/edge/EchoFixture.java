package dev.bourse.edge;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** An edge whose operations answer with their input. */
abstract class EchoFixture {
  static EdgeFixture fixture;

  @BeforeAll
  static void serve() {
    fixture = new EdgeFixture(EdgeFixture.unlimited());
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  @BeforeEach
  void echo() {
    fixture.behave(EdgeFixture::echo);
  }
}
