package dev.bourse.blob.s3;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Where a store of objects is, and who asks it.
 *
 * @param bucket its bucket, which exists
 * @param prefix what every name begins with, ending in {@code /}; empty for none
 * @param endpoint the service's address; empty for Amazon's own of the region
 * @param region what requests are signed for
 * @param pathStyle whether the bucket is part of the path and not of the host's name, as most
 *     services but Amazon's want it
 * @param silence a store that says nothing for so long while bytes move is away
 * @param credentialsFile a file of the form of {@code ~/.aws/credentials}; empty for what the
 *     environment, the usual files or the machine's own role give
 */
public record S3Config(
    String bucket,
    String prefix,
    Optional<URI> endpoint,
    String region,
    boolean pathStyle,
    Duration silence,
    Optional<Path> credentialsFile) {
  /** What an address looks like. */
  public static final String ACCEPTED =
      "s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION&path-style=true&timeout=20, each"
          + " part behind the bucket optional, and the timeout 1 to 60 seconds";

  private static final String SCHEME = "s3://";
  private static final Pattern BUCKET = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");

  /** Leaves room for the names of blobs within the 1,024 bytes that a name may have. */
  private static final Pattern PREFIX = Pattern.compile("([A-Za-z0-9._-]{1,64}/){0,16}");

  private static final int LONGEST_PREFIX = 256;
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,64}");

  /** No longer than {@link S3Calls} gives one try, which would end first. */
  private static final Pattern TIMEOUT = Pattern.compile("[1-9]|[1-5][0-9]|60");

  /** Services that move data about or restart a node are silent for some seconds. */
  private static final String USUAL_TIMEOUT = "20";

  private static final Set<String> OPTIONS = Set.of("endpoint", "region", "path-style", "timeout");

  /** Whether a text means a store of this kind. */
  public static boolean isOne(String text) {
    return text.startsWith(SCHEME);
  }

  /**
   * Reads an address.
   *
   * @throws IllegalArgumentException that says what is wrong with it, and what would be accepted
   */
  public static S3Config parse(String text, Optional<Path> credentialsFile) {
    if (!isOne(text)) {
      throw wrong(text);
    }
    int query = text.indexOf('?');
    String place = text.substring(SCHEME.length(), query < 0 ? text.length() : query);
    int slash = place.indexOf('/');
    String bucket = slash < 0 ? place : place.substring(0, slash);
    String folder = slash < 0 ? "" : place.substring(slash + 1);
    String prefix = folder.isEmpty() || folder.endsWith("/") ? folder : folder + '/';
    Map<String, String> options = options(text, query < 0 ? "" : text.substring(query + 1));
    String region = options.getOrDefault("region", "us-east-1");
    if (!BUCKET.matcher(bucket).matches()
        || !PREFIX.matcher(prefix).matches()
        || prefix.length() > LONGEST_PREFIX
        || !REGION.matcher(region).matches()) {
      throw wrong(text);
    }
    Optional<URI> endpoint = Optional.ofNullable(options.get("endpoint")).map(S3Config::endpoint);
    String style = options.getOrDefault("path-style", String.valueOf(endpoint.isPresent()));
    String timeout = options.getOrDefault("timeout", USUAL_TIMEOUT);
    if ((!style.equals("true") && !style.equals("false")) || !TIMEOUT.matcher(timeout).matches()) {
      throw wrong(text);
    }
    return new S3Config(
        bucket,
        prefix,
        endpoint,
        region,
        Boolean.parseBoolean(style),
        Duration.ofSeconds(Long.parseLong(timeout)),
        credentialsFile);
  }

  private static Map<String, String> options(String text, String query) {
    Map<String, String> options = new HashMap<>();
    for (String option : query.isEmpty() ? new String[0] : query.split("&", -1)) {
      int equals = option.indexOf('=');
      String name = equals < 0 ? option : option.substring(0, equals);
      if (equals < 0
          || !OPTIONS.contains(name)
          || options.put(name, option.substring(equals + 1)) != null) {
        throw wrong(text);
      }
    }
    return options;
  }

  private static URI endpoint(String text) {
    try {
      URI uri = new URI(text);
      String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
      if ((scheme.equals("http") || scheme.equals("https"))
          && uri.getHost() != null
          && uri.getUserInfo() == null
          && uri.getQuery() == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "the endpoint '" + text + "' is no address such as https://objects.example.com:9000");
  }

  private static IllegalArgumentException wrong(String text) {
    return new IllegalArgumentException("'" + text + "' is not of the form " + ACCEPTED);
  }

  /** The store's name, the same however its address is written: what rows name it by. */
  public String name() {
    return SCHEME + bucket + '/' + prefix;
  }
}
