package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The service does not depend on its engine, and every test that does states the reason. */
@EachEngine
class EnginesTest {
  @Test
  @OneEngine("classes are read; no engine runs")
  void everyTestOfTheServiceConcernsBothEnginesOrSaysWhyOne() throws Exception {
    Path built =
        Path.of(EnginesTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (Stream<Path> files = Files.walk(built)) {
      assertEquals(
          List.of(),
          files
              .filter(file -> file.toString().endsWith("Test.class"))
              .filter(file -> names(file, RunningBourse.class, ChildBourse.class))
              .filter(
                  file -> !names(file, EachEngine.class, ReplayedOnPostgres.class, OneEngine.class))
              .map(built::relativize)
              .toList());
    }
  }

  /**
   * Returns true if a class file names one of the types: its constant pool contains their names as
   * text.
   */
  private static boolean names(Path file, Class<?>... types) {
    try {
      String constants = Files.readString(file, StandardCharsets.ISO_8859_1);
      return Stream.of(types).anyMatch(t -> constants.contains(t.getName().replace('.', '/')));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  @Slow("the first test on PostgreSQL starts the server of all")
  void theServiceRunsOnTheEngineThisRunIsAbout() {
    try (RunningBourse bourse = RunningBourse.demo()) {
      assertEquals(
          "postgres".equals(System.getProperty("bourse.test.store")), bourse.database().isShared());
    }
  }
}
