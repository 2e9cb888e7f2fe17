package dev.bourse.contract;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
   * @throws IllegalStateException listing every pattern that a caller's text could make slow or
   *     deep, and those without a bound of the length or words for people
   */
  public static void main(String[] args) throws IOException {
    List<String> faults = new ArrayList<>();
    Path target = Files.createDirectories(Path.of(args[1]));
    try (DirectoryStream<Path> contracts = Files.newDirectoryStream(Path.of(args[0]), "*.yaml")) {
      for (Path contract : contracts) {
        String name = String.valueOf(contract.getFileName()).replaceFirst("\\.yaml$", ".json");
        try (Reader yaml = Files.newBufferedReader(contract)) {
          String json = json(yaml);
          faults.addAll(SchemaRules.patternFaults(name, new JsonObject(json)));
          Files.writeString(target.resolve(name), json);
        }
      }
    }
    if (!faults.isEmpty()) {
      throw new IllegalStateException("patterns of contracts:\n  " + String.join("\n  ", faults));
    }
  }

  /** A contract in JSON. */
  public static String json(Reader yaml) {
    Map<String, Object> document = new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
    return new JsonObject(document).encode();
  }
}
