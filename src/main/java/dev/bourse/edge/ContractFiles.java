package dev.bourse.edge;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The build's step from the contracts as people write them, in YAML, to what the service reads: the
 * same documents in JSON. Reading the YAML at each start took a quarter of it.
 */
public final class ContractFiles {
  private ContractFiles() {}

  /**
   * Writes a {@code .json} for each {@code .yaml}.
   *
   * @param args the folder of the contracts, and the one to write to, which is made
   */
  public static void main(String[] args) throws IOException {
    Path target = Files.createDirectories(Path.of(args[1]));
    try (DirectoryStream<Path> contracts = Files.newDirectoryStream(Path.of(args[0]), "*.yaml")) {
      for (Path contract : contracts) {
        String name = String.valueOf(contract.getFileName()).replaceFirst("\\.yaml$", ".json");
        try (Reader yaml = Files.newBufferedReader(contract)) {
          Files.writeString(target.resolve(name), json(yaml));
        }
      }
    }
  }

  /** A contract in JSON. */
  static String json(Reader yaml) {
    Map<String, Object> document = new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
    return new JsonObject(document).encode();
  }
}
