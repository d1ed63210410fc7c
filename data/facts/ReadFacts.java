import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Prints what one Spark release declares of its settings, as JSON: facts that reflection finds, no documentation text.
 *
 * <p>Usage: java --add-opens ... -cp CLASSES:JARS/* ReadFacts JARS
 */
public final class ReadFacts {
  private static final Pattern KEY = Pattern.compile("spark\\.[A-Za-z0-9_.\\-]*");
  private static final String[] FRACTIONS = {"-1", "-0.0001", "0", "0.0001", "0.5", "0.9999", "1", "1.0001", "2", "100"};

  public static void main(String[] args) throws Throwable {
    Set<String> constants = new TreeSet<>();
    for (String declarer : scan(new File(args[0]), constants)) {
      load(declarer);
    }
    Map<String, Object> entries = declared();
    Set<String> sql = new HashSet<>();
    Set<String> fixed = new HashSet<>();
    sqlKeys(sql, fixed);
    List<Object> settings = new ArrayList<>();
    for (Object entry : entries.values()) {
      settings.add(facts(entry, sql, fixed));
    }
    constants.removeAll(entries.keySet());
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("settings", settings);
    all.put("raw", constants);
    all.put("deprecated", versions(field(module("org.apache.spark.SparkConf$"), "deprecatedConfigs"), null));
    all.put("older", olderNames());
    Object sqlConf = module("org.apache.spark.sql.internal.SQLConf$");
    all.put("deprecatedSql", versions(call(sqlConf, "deprecatedSQLConfigs"), null));
    all.put("removedSql", versions(call(sqlConf, "removedSQLConfigs"), "defaultValue"));
    new PrintStream(System.out, true, StandardCharsets.UTF_8).println(json(all));
  }

  // ---- one setting

  private static Map<String, Object> facts(Object entry, Set<String> sql, Set<String> fixed) throws Throwable {
    Map<String, Object> facts = new LinkedHashMap<>();
    String key = (String) call(entry, "key");
    String kind = entry.getClass().getSimpleName();
    facts.put("key", key);
    String text = (String) call(entry, "defaultValueString");
    facts.put("default", "<undefined>".equals(text) ? null : text);
    facts.put("since", call(entry, "version"));
    facts.put("public", call(entry, "isPublic"));
    facts.put("optional", kind.startsWith("Optional"));
    facts.put("scope", !sql.contains(key) ? "core" : fixed.contains(key) ? "sql-static" : "sql-runtime");
    facts.put("alternatives", items(call(entry, "alternatives")));
    try {
      facts.put("prependedKey", option(call(entry, "prependedKey")));
    } catch (NoSuchMethodException absentInOldReleases) {
      facts.put("prependedKey", null);
    }
    Object source = entry;
    if (kind.startsWith("Fallback")) {
      facts.put("fallback", call(field(entry, "fallback"), "key"));
      while (source.getClass().getSimpleName().startsWith("Fallback")) {
        source = field(source, "fallback");
      }
    }
    boolean optional = source.getClass().getSimpleName().startsWith("Optional");
    Object converter = call(source, optional ? "rawValueConverter" : "valueConverter");
    boolean checked = converter(converter, facts);
    if (kind.startsWith("ProtoBacked")) {
      proto(entry, key, facts);
      checked = true;
    }
    if (checked && facts.get("list") == null) {
      facts.put("bounds", bounds(converter, (String) facts.get("type")));
    }
    return facts;
  }

  /** Settings that are declared in a text resource (since 4.3) have no converter that tells their type. */
  private static void proto(Object entry, String key, Map<String, Object> facts) throws Exception {
    String declaration = String.valueOf(field(entry, "protoEntry"));
    String type = line(declaration, "value_type").replace("VALUE_TYPE_", "").toLowerCase();
    facts.put("type", type.replace("bool", "boolean"));
    boolean fixed = "MUTABILITY_STATIC".equals(line(declaration, "mutability"));
    facts.put("scope", !key.startsWith("spark.sql.") ? "core" : fixed ? "sql-static" : "sql-runtime");
  }

  private static String line(String declaration, String name) {
    Matcher found = Pattern.compile("(?m)^" + name + ": (\\S+)").matcher(declaration);
    return found.find() ? found.group(1) : "";
  }

  /** Follows a converter through the steps that wrap it, innermost first. Returns whether a step checks the value. */
  private static boolean converter(Object converter, Map<String, Object> facts) throws Throwable {
    SerializedLambda lambda = lambda(converter);
    if (lambda == null) {
      facts.put("type", "unknown");
      return false;
    }
    String owner = lambda.getImplClass();
    String method = lambda.getImplMethodName().replaceAll("\\$adapted$", "");
    method = method.replaceAll("^\\$anonfun\\$", "").replaceAll("\\$\\d+$", "");
    Object builder = captured(lambda, "TypedConfigBuilder");
    if (owner.endsWith("/TypedConfigBuilder") && builder != null) {
      boolean checked = converter(field(builder, "converter"), facts);
      if (method.contains("toSequence")) {
        facts.put("list", true);
        return checked;
      }
      return step(lambda, builder, method, facts) || checked;
    }
    facts.put("type", owner.endsWith("/ConfigBuilder") ? method.replaceAll("Conf$", "") : "unknown");
    for (int i = 0; i < lambda.getCapturedArgCount(); i++) {
      base(lambda.getCapturedArg(i), facts);
    }
    return false;
  }

  /** What the innermost converter has captured: a unit, or the values of an enumeration. */
  private static void base(Object argument, Map<String, Object> facts) throws Exception {
    if (argument == null) {
      return;
    }
    boolean time = argument instanceof java.util.concurrent.TimeUnit;
    if (time || argument.getClass().getName().contains("ByteUnit")) {
      facts.put("unit", ((Enum<?>) argument).name());
    } else if (argument instanceof Class && ((Class<?>) argument).isEnum()) {
      List<Object> names = new ArrayList<>();
      for (Object constant : ((Class<?>) argument).getEnumConstants()) {
        names.add(((Enum<?>) constant).name());
      }
      facts.put("allowed", names);
    } else if (type("scala.Enumeration").isInstance(argument)) {
      facts.put("allowed", texts(items(call(argument, "values"))));
    }
  }

  /** One step of a converter: a set of allowed values, or a change of case. Returns whether it checks the value. */
  private static boolean step(SerializedLambda lambda, Object builder, String method, Map<String, Object> facts)
      throws Throwable {
    boolean checks = false;
    for (int i = 0; i < lambda.getCapturedArgCount(); i++) {
      Object argument = lambda.getCapturedArg(i);
      SerializedLambda function = argument == null || argument == builder ? null : lambda(argument);
      if (function == null) {
        continue;
      }
      checks |= function.getImplMethodName().contains("checkValue");
      boolean plain = true;
      for (int k = 0; k < function.getCapturedArgCount(); k++) {
        Object inner = function.getCapturedArg(k);
        plain &= !(inner instanceof String);
        boolean many = inner != null && type("scala.collection.Iterable").isInstance(inner);
        if (many && !inner.getClass().getName().contains("Map")) {
          plain = false;
          facts.put("allowed", texts(items(inner)));
        }
      }
      if (plain && method.equals("transform")) {
        fold(argument, facts);
      }
    }
    return checks;
  }

  private static void fold(Object function, Map<String, Object> facts) {
    try {
      Object result = apply(function, "aBc");
      if ("ABC".equals(result)) {
        facts.putIfAbsent("caseFold", "upper");
      } else if ("abc".equals(result)) {
        facts.putIfAbsent("caseFold", "lower");
      }
    } catch (Throwable notForTexts) {
      // A transformation of numbers has no case.
    }
  }

  // ---- bounds, found by trying

  private static Object bounds(Object converter, String type) throws Throwable {
    switch (type) {
      case "int":
        return interval(converter, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case "long":
      case "time":
      case "bytes":
        return interval(converter, -(1L << 42), 1L << 42);
      case "double":
        List<Object> accepted = new ArrayList<>();
        for (String fraction : FRACTIONS) {
          if (accepts(converter, fraction)) {
            accepted.add(fraction);
          }
        }
        return accepted.size() == FRACTIONS.length ? null : Map.of("accepted", accepted);
      default:
        return null;
    }
  }

  /** The smallest interval that holds every whole number that is accepted; null if it has no ends. */
  private static Map<String, Object> interval(Object converter, long lowest, long highest) {
    long[] seeds = {-1, 0, 1, 2, 5, 10, 60, 100, 1000, 1024, 10000, 1 << 20, 1 << 24, 1 << 28};
    long[] accepted = Arrays.stream(seeds).filter(seed -> accepts(converter, "" + seed)).toArray();
    if (accepted.length == 0) {
      return null;
    }
    Map<String, Object> found = new LinkedHashMap<>();
    if (!accepts(converter, "" + lowest)) {
      found.put("min", edge(converter, accepted[0], lowest));
    }
    if (!accepts(converter, "" + highest)) {
      found.put("max", edge(converter, accepted[accepted.length - 1], highest));
    }
    return found.isEmpty() ? null : found;
  }

  /** The accepted number that is nearest to a refused one. */
  private static long edge(Object converter, long accepted, long refused) {
    while (Math.abs(accepted - refused) > 1) {
      long middle = accepted + (refused - accepted) / 2;
      if (accepts(converter, "" + middle)) {
        accepted = middle;
      } else {
        refused = middle;
      }
    }
    return accepted;
  }

  private static boolean accepts(Object converter, String text) {
    try {
      apply(converter, text);
      return true;
    } catch (Throwable refused) {
      return false;
    }
  }

  // ---- what is declared where

  private static Map<String, Object> declared() throws Exception {
    Map<String, Object> entries = new TreeMap<>();
    Object known = call(module("org.apache.spark.internal.config.ConfigEntry$"), "knownConfigs");
    Object sqlConf = module("org.apache.spark.sql.internal.SQLConf$");
    for (Object table : new Object[] {known, field(sqlConf, "sqlConfEntries")}) {
      ((Map<?, ?>) table).forEach((key, entry) -> entries.putIfAbsent((String) key, entry));
    }
    return entries;
  }

  private static void sqlKeys(Set<String> all, Set<String> fixed) throws Exception {
    Object sqlConf = module("org.apache.spark.sql.internal.SQLConf$");
    ((Map<?, ?>) field(sqlConf, "sqlConfEntries")).keySet().forEach(key -> all.add((String) key));
    ((Collection<?>) field(sqlConf, "staticConfKeys")).forEach(key -> fixed.add((String) key));
  }

  /** Key to version of one of Spark's own tables of deprecated and removed settings. */
  private static Map<String, Object> versions(Object table, String extra) throws Exception {
    Map<String, Object> versions = new TreeMap<>();
    for (Object pair : items(table)) {
      Object row = call(pair, "_2");
      List<Object> values = new ArrayList<>(List.of(call(row, "version")));
      if (extra != null) {
        values.add(call(row, extra));
      }
      versions.put((String) call(pair, "_1"), values);
    }
    return versions;
  }

  private static Map<String, Object> olderNames() throws Exception {
    Map<String, Object> names = new TreeMap<>();
    for (Object pair : items(field(module("org.apache.spark.SparkConf$"), "configsWithAlternatives"))) {
      List<Object> rows = new ArrayList<>();
      for (Object row : items(call(pair, "_2"))) {
        rows.add(Arrays.asList(call(row, "key"), call(row, "version"), call(row, "translation") != null));
      }
      names.put((String) call(pair, "_1"), rows);
    }
    return names;
  }

  private static void load(String name) {
    try {
      Class<?> loaded = type(name);
      Object module = loaded.getField("MODULE$").get(null);
      Class<?> entry = type("org.apache.spark.internal.config.ConfigEntry");
      for (Method method : loaded.getDeclaredMethods()) {
        boolean getter = method.getParameterCount() == 0 && !Modifier.isStatic(method.getModifiers());
        if (getter && entry.isAssignableFrom(method.getReturnType())) {
          method.setAccessible(true);
          method.invoke(module);
        }
      }
    } catch (Throwable notLoadable) {
      System.err.println("skipped " + name + ": " + notLoadable);
    }
  }

  // ---- class files

  /** Names of the classes that declare settings; adds every constant that looks like a key. */
  private static List<String> scan(File jars, Set<String> constants) throws IOException {
    // These first, so that what is declared as a SQL setting is known as one.
    Set<String> declarers = new java.util.LinkedHashSet<>(List.of(
        "org.apache.spark.internal.config.package$",
        "org.apache.spark.sql.internal.SQLConf$",
        "org.apache.spark.sql.internal.StaticSQLConf$"));
    File[] files = jars.listFiles((directory, name) -> name.startsWith("spark-") && name.endsWith(".jar"));
    Arrays.sort(files);
    for (File file : files) {
      try (ZipFile jar = new ZipFile(file)) {
        for (Enumeration<? extends ZipEntry> all = jar.entries(); all.hasMoreElements(); ) {
          ZipEntry one = all.nextElement();
          if (one.getName().startsWith("org/apache/spark/") && one.getName().endsWith(".class")) {
            String declarer = scan(jar.getInputStream(one), constants);
            if (declarer != null) {
              declarers.add(declarer);
            }
          }
        }
      }
    }
    declarers.removeIf(name -> name.matches("org\\.apache\\.spark\\.internal\\.config\\..*Config(Builder|Entry).*"));
    return new ArrayList<>(declarers);
  }

  /** The class's name if it declares settings, else null. */
  private static String scan(InputStream in, Set<String> constants) throws IOException {
    DataInputStream data = new DataInputStream(new BufferedInputStream(in));
    data.readLong();
    int count = data.readUnsignedShort();
    String[] texts = new String[count];
    int[] classes = new int[count];
    List<Integer> strings = new ArrayList<>();
    for (int i = 1; i < count; i++) {
      int tag = data.readUnsignedByte();
      switch (tag) {
        case 1 -> texts[i] = data.readUTF();
        case 3, 4, 9, 10, 11, 12, 17, 18 -> data.readInt();
        case 5, 6 -> {
          data.readLong();
          i++;
        }
        case 7 -> classes[i] = data.readUnsignedShort();
        case 8 -> strings.add(data.readUnsignedShort());
        case 15 -> {
          data.readUnsignedByte();
          data.readUnsignedShort();
        }
        case 16, 19, 20 -> data.readUnsignedShort();
        default -> throw new IOException("constant of unknown kind " + tag);
      }
    }
    data.readUnsignedShort();
    String name = texts[classes[data.readUnsignedShort()]].replace('/', '.');
    strings.stream().map(i -> texts[i]).filter(text -> KEY.matcher(text).matches()).forEach(constants::add);
    Set<String> known = new HashSet<>(Arrays.asList(texts));
    boolean declares = known.contains("org/apache/spark/internal/config/ConfigBuilder")
        || known.contains("buildConf")
        || known.contains("buildStaticConf");
    return declares ? name : null;
  }

  // ---- Scala through reflection, for 2.12 and 2.13 alike

  private static Class<?> type(String name) throws ClassNotFoundException {
    return Class.forName(name, true, ReadFacts.class.getClassLoader());
  }

  private static Object module(String name) throws Exception {
    return type(name).getField("MODULE$").get(null);
  }

  private static Object call(Object object, String method) throws Exception {
    for (Class<?> c = object.getClass(); c != null; c = c.getSuperclass()) {
      try {
        Method found = c.getDeclaredMethod(method);
        found.setAccessible(true);
        return found.invoke(object);
      } catch (NoSuchMethodException lookFurtherUp) {
        continue;
      }
    }
    return object.getClass().getMethod(method).invoke(object);
  }

  private static Object field(Object object, String name) throws Exception {
    for (Class<?> c = object.getClass(); c != null; c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        if (field.getName().equals(name) || field.getName().endsWith("$$" + name)) {
          field.setAccessible(true);
          return field.get(Modifier.isStatic(field.getModifiers()) ? null : object);
        }
      }
    }
    throw new NoSuchFieldException(object.getClass() + "." + name);
  }

  private static List<Object> items(Object iterable) throws Exception {
    Class<?> iteratorType = type("scala.collection.Iterator");
    Object iterator = iteratorType.isInstance(iterable)
        ? iterable
        : type("scala.collection.Iterable").getMethod("iterator").invoke(iterable);
    List<Object> items = new ArrayList<>();
    while ((Boolean) iteratorType.getMethod("hasNext").invoke(iterator)) {
      items.add(iteratorType.getMethod("next").invoke(iterator));
    }
    return items;
  }

  private static List<Object> texts(List<Object> items) {
    List<Object> texts = new ArrayList<>();
    items.forEach(item -> texts.add(String.valueOf(item)));
    return texts;
  }

  private static Object option(Object option) throws Exception {
    Class<?> type = type("scala.Option");
    return (Boolean) type.getMethod("isEmpty").invoke(option) ? null : type.getMethod("get").invoke(option);
  }

  private static Object apply(Object function, Object argument) throws Throwable {
    try {
      return type("scala.Function1").getMethod("apply", Object.class).invoke(function, argument);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }

  private static SerializedLambda lambda(Object function) {
    try {
      Method replace = function.getClass().getDeclaredMethod("writeReplace");
      replace.setAccessible(true);
      Object replaced = replace.invoke(function);
      return replaced instanceof SerializedLambda ? (SerializedLambda) replaced : null;
    } catch (Exception noLambda) {
      return null;
    }
  }

  private static Object captured(SerializedLambda lambda, String typeName) {
    for (int i = 0; i < lambda.getCapturedArgCount(); i++) {
      Object argument = lambda.getCapturedArg(i);
      if (argument != null && argument.getClass().getName().endsWith(typeName)) {
        return argument;
      }
    }
    return null;
  }

  // ---- JSON

  private static String json(Object value) {
    if (value == null || value instanceof Boolean || value instanceof Number) {
      return String.valueOf(value);
    }
    StringBuilder out = new StringBuilder();
    if (value instanceof Map) {
      ((Map<?, ?>) value)
          .forEach((k, v) -> out.append(out.length() == 0 ? "" : ",").append(json(k)).append(':').append(json(v)));
      return "{" + out + "}";
    }
    if (value instanceof Collection) {
      ((Collection<?>) value).forEach(item -> out.append(out.length() == 0 ? "" : ",").append(json(item)));
      return "[" + out + "]";
    }
    for (char c : value.toString().toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return "\"" + out + "\"";
  }
}
