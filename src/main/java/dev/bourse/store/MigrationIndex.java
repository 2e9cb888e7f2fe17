package dev.bourse.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Lists the migrations of a folder in the index that {@link Migrations} reads. Runs at build time,
 * so that a new migration is one new file.
 */
public final class MigrationIndex {
  private MigrationIndex() {}

  /**
   * Writes the index.
   *
   * @param args the folder of the migrations, which gets the index
   */
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    try (Stream<Path> files = Files.list(folder)) {
      String names =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".sql"))
              .sorted()
              .map(name -> name + '\n')
              .collect(Collectors.joining());
      Files.write(folder.resolve(Migrations.INDEX), names.getBytes(StandardCharsets.UTF_8));
    }
  }
}
