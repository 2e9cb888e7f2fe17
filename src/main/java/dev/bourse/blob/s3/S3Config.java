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
 * The address of an object store and the credentials for it.
 *
 * @param bucket an existing bucket
 * @param prefix the prefix of every object's name, ending in {@code /}; empty for none
 * @param endpoint the service's address; empty for Amazon's own in the region
 * @param region the region that requests are signed for
 * @param pathStyle whether the bucket is part of the path, as most services but Amazon's require,
 *     and not of the host name
 * @param silence the read timeout: a store that sends nothing for this time during a transfer
 *     counts as failed
 * @param credentialsFile a file in the format of {@code ~/.aws/credentials}; empty for the
 *     environment, the default files or the machine's role
 */
public record S3Config(
    String bucket,
    String prefix,
    Optional<URI> endpoint,
    String region,
    boolean pathStyle,
    Duration silence,
    Optional<Path> credentialsFile) {
  /** The accepted form of an address. */
  public static final String ACCEPTED =
      "s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION&path-style=true&timeout=20, each"
          + " part after the bucket optional, and the timeout 1 to 60 seconds";

  private static final String SCHEME = "s3://";
  private static final Pattern BUCKET = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");

  /** Leaves room for blob names within the 1,024 bytes that S3 allows. */
  private static final Pattern PREFIX = Pattern.compile("([A-Za-z0-9._-]{1,64}/){0,16}");

  private static final int LONGEST_PREFIX = 256;
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,64}");

  /** At most the limit of one attempt in {@link S3Calls}, which would end first. */
  private static final Pattern TIMEOUT = Pattern.compile("[1-9]|[1-5][0-9]|60");

  /** Services that rebalance data or restart a node are silent for some seconds. */
  private static final String USUAL_TIMEOUT = "20";

  private static final Set<String> OPTIONS = Set.of("endpoint", "region", "path-style", "timeout");

  /** Returns whether the text is an address of an object store. */
  public static boolean isOne(String text) {
    return text.startsWith(SCHEME);
  }

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException if it is malformed; the message states the fault and the
   *     accepted form
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
      // The exception below reports it.
    }
    throw new IllegalArgumentException(
        "the endpoint '"
            + text
            + "' is not a valid address; expected one such as https://objects.example.com:9000");
  }

  private static IllegalArgumentException wrong(String text) {
    return new IllegalArgumentException("'" + text + "' is not of the form " + ACCEPTED);
  }

  /** Returns the store's name in rows, which is the same for every way to write its address. */
  public String name() {
    return SCHEME + bucket + '/' + prefix;
  }
}
