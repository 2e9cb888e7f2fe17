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
 * The build's step from the contracts as people write them, in YAML that shares a common file, to
 * what the service serves: each contract whole, in JSON, with the version of the build; and to what
 * it reads at each start, the model by which requests are routed ({@link RoutingModel}).
 */
public final class ContractFiles {
  private ContractFiles() {}

  /**
   * Writes a {@code .json} for each {@code .yaml} but the common one, and its model for routing.
   *
   * @param args the folder of the contracts, the one to write to, which is made, and the version
   * @throws IllegalStateException listing every pattern that a caller's text could make slow or
   *     deep, and those without a bound of the length or words for people
   */
  public static void main(String[] args) throws IOException {
    List<String> faults = new ArrayList<>();
    Path sources = Path.of(args[0]);
    Path target = Files.createDirectories(Path.of(args[1]));
    Files.createDirectories(target.resolve(Contract.ROUTING));
    Map<String, Object> common = read(sources.resolve(ContractBundle.COMMON));
    try (DirectoryStream<Path> contracts = Files.newDirectoryStream(sources, "*.yaml")) {
      for (Path contract : contracts) {
        String file = String.valueOf(contract.getFileName());
        if (!file.equals(ContractBundle.COMMON)) {
          JsonObject document = new JsonObject(ContractBundle.of(read(contract), common));
          document.getJsonObject("info").put("version", args[2]);
          String name = file.replaceFirst("\\.yaml$", ".json");
          faults.addAll(SchemaRules.patternFaults(name, document));
          Files.writeString(target.resolve(name), document.encode());
          Files.writeString(
              target.resolve(Contract.ROUTING + name),
              RoutingModel.document(document.getMap()).encode());
        }
      }
    }
    if (!faults.isEmpty()) {
      throw new IllegalStateException("patterns of contracts:\n  " + String.join("\n  ", faults));
    }
  }

  private static Map<String, Object> read(Path file) throws IOException {
    try (Reader yaml = Files.newBufferedReader(file)) {
      return map(yaml);
    }
  }

  /** A contract that takes nothing of the common file, in JSON. */
  public static String json(Reader yaml) {
    return new JsonObject(map(yaml)).encode();
  }

  private static Map<String, Object> map(Reader yaml) {
    return new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
  }
}
