package dev.bourse.app.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** Plain arguments mean the same to {@code serve} as to picocli; picocli handles all others. */
@Tag("fast")
class ServeArgumentsTest {
  private static final int LISTS = 5_000;

  private static final List<String> WORDS =
      List.of(
          "--demo",
          "--port",
          "--port=0",
          "--port=8080",
          "--data",
          "--data=d",
          "--config",
          "--set",
          "--set=a=b",
          "--set=a=b=c",
          "--set=",
          "--help",
          "-h",
          "--dem",
          "--demo=true",
          "--port=x",
          "0",
          "99999",
          "123456",
          "-1",
          "a=b",
          "x.y=z",
          "=",
          "a=",
          "folder",
          "a file",
          "@file",
          "'q'",
          "$x",
          "\\",
          "",
          "--",
          "--unknown",
          "--unknown=1");

  @Test
  void whateverIsPlainMeansTheSameToPicocli() {
    Random random = new Random(7);
    int plain = 0;
    for (int i = 0; i < LISTS; i++) {
      List<String> arguments = new ArrayList<>();
      for (int count = random.nextInt(5); count > 0; count--) {
        arguments.add(WORDS.get(random.nextInt(WORDS.size())));
      }
      Optional<ServeArguments> parsed = ServeArguments.plain(arguments);
      if (parsed.isPresent()) {
        plain++;
        assertEquals(byPicocli(arguments), parsed.get(), arguments.toString());
      }
    }
    assertTrue(plain > LISTS / 20, plain + " lists were plain");
  }

  /** Created once: reading its annotations takes longer than parsing. */
  private static final CommandLine PICOCLI = new CommandLine(new ServeCommand());

  private static ServeArguments byPicocli(List<String> arguments) {
    ParseResult parsed = PICOCLI.parseArgs(arguments.toArray(String[]::new));
    return new ServeArguments(
        parsed.matchedOptionValue("--config", null),
        parsed.matchedOptionValue("--data", Path.of("data")),
        parsed.matchedOptionValue("--set", Map.of()),
        parsed.matchedOptionValue("--port", null),
        parsed.matchedOptionValue("--demo", false));
  }

  @Test
  void allThatScriptsAndSupervisorsUseIsPlain() {
    assertEquals(
        Optional.of(
            new ServeArguments(
                Path.of("bourse.yaml"),
                Path.of("/var/lib/bourse"),
                Map.of("market.tick", "1s", "store.url", "postgres://u:p@h:5432/d?a=b"),
                9090,
                true)),
        ServeArguments.plain(
            List.of(
                "--demo",
                "--config=bourse.yaml",
                "--port",
                "9090",
                "--data",
                "/var/lib/bourse",
                "--set",
                "market.tick=1s",
                "--set=store.url=postgres://u:p@h:5432/d?a=b")));
    assertEquals(
        Optional.of(new ServeArguments(null, Path.of("data"), Map.of(), null, false)),
        ServeArguments.plain(List.of()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "--port",
        "--port=x",
        "--port=123456",
        "--port=1 --port=2",
        "--demo --demo",
        "--demo=false",
        "--set=a",
        "--set a=1 --set a=2",
        "--data --demo",
        "folder",
        "@arguments"
      })
  void whatNeedsAnAnswerOrARefusalIsNotPlain(String arguments) {
    assertEquals(Optional.empty(), ServeArguments.plain(List.of(arguments.split(" "))));
  }
}
