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
 * The build step that turns the contracts people write, in YAML with a common file, into the files
 * the service uses: each contract as complete JSON with the version of the build, which it serves,
 * and the model for routing, which it reads at each start ({@link RoutingModel}).
 */
public final class ContractFiles {
  private ContractFiles() {}

  /**
   * Writes a {@code .json} and a model for routing for each {@code .yaml} except the common one.
   *
   * @param args the folder of the contracts, the output folder, which is created, and the version
   * @throws IllegalStateException listing every pattern that a caller's text could make slow or
   *     deeply recursive, and those without a bound on the length or an explanation for people
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

  /** A contract that does not use the common file, in JSON. */
  public static String json(Reader yaml) {
    return new JsonObject(map(yaml)).encode();
  }

  private static Map<String, Object> map(Reader yaml) {
    return new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
  }
}
