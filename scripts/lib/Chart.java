import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import io.kubernetes.client.openapi.JSON;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Lints the chart of {@code conf/kubernetes} with Helm, renders it, and holds what comes out against Kubernetes' types:
 * a field that they lack, one that they require and a value of another kind are refused. That this is so is shown by
 * misspelling every field in turn.
 *
 * <p>{@code Chart.java CHART FOLDER} writes each object to {@code FOLDER/KIND-NAME.json}, and fails when {@code
 * CHART/manifests.yaml} is not what the chart makes of {@code CHART/example.yaml}; with {@code --write} in place of the
 * folder it writes that file.
 */
final class Chart {
  /** The kinds that the chart uses, each with the one version that this knows types of. */
  private static final Map<String, String> KINDS =
      Map.of(
          "ConfigMap", "v1",
          "Service", "v1",
          "Deployment", "apps/v1",
          "Job", "batch/v1",
          "PodDisruptionBudget", "policy/v1",
          "NetworkPolicy", "networking.k8s.io/v1");

  /** What has keys of the user's own, so that none is misspelt. */
  private static final Set<String> FREE =
      Set.of("labels", "annotations", "matchLabels", "selector", "data", "limits", "requests", "nodeSelector");

  private static final String HEAD =
      """
      # Made of the chart beside this file, with the values of example.yaml: replace what is said there. It lacks the
      # chart's hook that migrates the store beforehand; the first new process does that when it starts.
      """;

  private final Path folder;
  private int misspelt;

  private Chart(Path folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) throws Exception {
    var chart = new Chart(Path.of(arguments[0]));
    chart.lint();
    var plain = HEAD + chart.render().call();
    var manifests = chart.folder.resolve("manifests.yaml");
    if (arguments[1].equals("--write")) {
      Files.writeString(manifests, plain);
      return;
    }
    if (!plain.equals(Files.readString(manifests))) {
      throw new IllegalStateException(manifests + " is not what the chart makes; scripts/smoke tells how to make it");
    }
    var objects =
        parse(
            chart
                .withHooksAsObjects(Path.of(arguments[1]))
                .render()
                .set("networkPolicy", "true")
                .set("image.pullSecrets[0]", "registry")
                .set("nodeSelector.disk", "ssd")
                .set("tolerations[0].key", "apart")
                .set("podAnnotations.seen", "by-others")
                .set("env[0].name", "BOURSE_MAIL_SMTP_PASSWORD")
                .set("env[0].valueFrom.secretKeyRef.name", "mail")
                .set("env[0].valueFrom.secretKeyRef.key", "password")
                .call());
    for (var object : objects) {
      refused(object).ifPresent(fault -> { throw new IllegalStateException(fault); });
      chart.misspell(object, object);
      Files.writeString(
          Path.of(arguments[1], object.get("kind").getAsString() + "-" + name(object) + ".json"), object.toString());
    }
    chart.refuseValues();
    System.out.printf(
        "%d objects are as Kubernetes' types say; each of %d fields was refused when it was misspelt%n",
        objects.size(), chart.misspelt);
  }

  /** The same chart with its hooks as objects like any other, because Helm does not show hooks. */
  private Chart withHooksAsObjects(Path parent) throws IOException {
    var copy = Files.createTempDirectory(parent, "chart");
    try (var files = Files.walk(folder)) {
      for (var file : files.filter(Files::isRegularFile).toList()) {
        var there = copy.resolve(folder.relativize(file));
        Files.createDirectories(there.getParent());
        Files.writeString(there, Files.readString(file).replace("helm.sh/hook", "bourse.example/hook"));
      }
    }
    return new Chart(copy);
  }

  private void lint() {
    var result = new Helm(folder).lint().strict().call();
    if (result.isFailed()) {
      throw new IllegalStateException("helm lint: " + String.join("\n", result.getMessages()));
    }
  }

  private TemplateCommand render() {
    return new Helm(folder).template().withName("bourse").withNamespace("bourse").withKubeVersion("1.25.0")
        .withValuesFile(folder.resolve("example.yaml"));
  }

  /** Values that nobody gives on purpose, each with a word of the reason that Helm has to give. */
  private void refuseValues() {
    var wrong =
        Map.of(
            "replica=3", "replica",
            "replicas=two", "replicas",
            "settings.port=80", "settings",
            "settings.store.password-file=x", "store",
            "settings.secret.key-file=x", "secret",
            "settings.checkpoints.s3-credentials-file=x", "checkpoints",
            "settings.base-url=", "base-url",
            "settings.store.url=sqlite", "postgres://");
    wrong.forEach(
        (value, reason) -> {
          var pair = value.split("=", 2);
          try {
            render().set(pair[0], pair[1]).call();
          } catch (IllegalStateException e) {
            if (e.getMessage().contains(reason)) {
              return;
            }
            throw new IllegalStateException(value + " is refused without a word of " + reason, e);
          }
          throw new IllegalStateException("the chart takes " + value);
        });
  }

  private static List<JsonObject> parse(String documents) {
    var options = new LoaderOptions();
    options.setAllowDuplicateKeys(false);
    var objects = new ArrayList<JsonObject>();
    for (var document : new Yaml(new SafeConstructor(options)).loadAll(documents)) {
      if (document != null) {
        objects.add(JSON.getGson().toJsonTree(document).getAsJsonObject());
      }
    }
    return objects;
  }

  private static String name(JsonObject object) {
    return object.getAsJsonObject("metadata").get("name").getAsString();
  }

  /** Why Kubernetes would not take the object, if it would not. */
  private static Optional<String> refused(JsonObject object) {
    var kind = object.has("kind") ? object.get("kind").getAsString() : "";
    var version = object.has("apiVersion") ? object.get("apiVersion").getAsString() : "";
    if (!version.equals(KINDS.get(kind))) {
      return Optional.of("there is no type of " + version + " " + kind);
    }
    try {
      var type = Class.forName("io.kubernetes.client.openapi.models.V1" + kind);
      type.getMethod("validateJsonElement", JsonElement.class).invoke(null, object);
      JSON.getGson().fromJson(object, type);
      return Optional.empty();
    } catch (InvocationTargetException e) {
      return Optional.of(kind + " " + e.getCause().getMessage());
    } catch (RuntimeException e) {
      return Optional.of(kind + " " + e.getMessage());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Misspells each field within a part of an object in turn, and puts it right again. */
  private void misspell(JsonObject object, JsonElement part) {
    if (part.isJsonArray()) {
      part.getAsJsonArray().forEach(element -> misspell(object, element));
    } else if (part.isJsonObject()) {
      var fields = part.getAsJsonObject();
      for (var name : List.copyOf(fields.keySet())) {
        var value = fields.remove(name);
        fields.add(name + "x", value);
        if (refused(object).isEmpty()) {
          throw new IllegalStateException(name + "x of " + object.get("kind") + " is taken for a field");
        }
        fields.remove(name + "x");
        fields.add(name, value);
        misspelt++;
        // A network policy's selector, and that of a workload, are types; that of a service is a map.
        if (!FREE.contains(name) || (name.equals("selector") && !object.get("kind").getAsString().equals("Service"))) {
          misspell(object, value);
        }
      }
    }
  }
}
