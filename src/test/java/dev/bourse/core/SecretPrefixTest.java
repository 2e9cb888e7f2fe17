package dev.bourse.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SecretPrefixTest {
  private static final Pattern QUOTED = Pattern.compile("\"(br[a-z]_)");

  /** The prefix of applications' ids, which are public. */
  private static final String NO_SECRET = "brc_";

  @Test
  void noSecretBeginsInAWayThatIsNotListed() throws Exception {
    Set<String> listed =
        Arrays.stream(SecretPrefix.values()).map(SecretPrefix::text).collect(Collectors.toSet());
    Set<String> used = new TreeSet<>();
    List<String> elsewhere = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        Matcher quoted = QUOTED.matcher(Files.readString(file));
        while (quoted.find()) {
          if (file.endsWith("SecretPrefix.java")) {
            used.add(quoted.group(1));
          } else if (!quoted.group(1).equals(NO_SECRET)) {
            elsewhere.add(file + " " + quoted.group(1));
          }
        }
      }
    }
    assertEquals(new TreeSet<>(listed), used);
    assertEquals(List.of(), elsewhere, "to be listed in SecretPrefix and taken from there");
  }
}
