/** Attribute types of names: canonical short name, object identifier, and further spellings in use. */
const ATTRIBUTE_TYPES: [name: string, oid: string, ...others: string[]][] = [
  ['CN', '2.5.4.3', 'commonName'],
  ['SN', '2.5.4.4', 'surname'],
  ['serialNumber', '2.5.4.5'],
  ['C', '2.5.4.6', 'countryName'],
  ['L', '2.5.4.7', 'localityName'],
  ['ST', '2.5.4.8', 'S', 'SP', 'stateOrProvinceName'],
  ['street', '2.5.4.9', 'streetAddress'],
  ['O', '2.5.4.10', 'organizationName'],
  ['OU', '2.5.4.11', 'organizationalUnitName'],
  ['title', '2.5.4.12', 'T'],
  ['description', '2.5.4.13'],
  ['businessCategory', '2.5.4.15'],
  ['postalCode', '2.5.4.17'],
  ['name', '2.5.4.41'],
  ['GN', '2.5.4.42', 'G', 'givenName'],
  ['initials', '2.5.4.43', 'I'],
  ['generationQualifier', '2.5.4.44'],
  ['dnQualifier', '2.5.4.46', 'DNQ'],
  ['pseudonym', '2.5.4.65'],
  ['organizationIdentifier', '2.5.4.97'],
  ['UID', '0.9.2342.19200300.100.1.1', 'userId', 'USERID'],
  ['mail', '0.9.2342.19200300.100.1.3', 'rfc822Mailbox'],
  ['DC', '0.9.2342.19200300.100.1.25', 'domainComponent'],
  ['emailAddress', '1.2.840.113549.1.9.1', 'E', 'Email'],
  ['unstructuredName', '1.2.840.113549.1.9.2'],
];

const NAME_OF_OID = new Map(ATTRIBUTE_TYPES.map(([name, oid]) => [oid, name]));
const NAME_OF_SPELLING = new Map(
  ATTRIBUTE_TYPES.flatMap(([name, , ...others]) =>
    [name, ...others].map((spelling) => [spelling.toLowerCase(), name] as const),
  ),
);
const OID_OF_NAME = new Map(ATTRIBUTE_TYPES.map(([name, oid]) => [name, oid]));
const DOTTED = /^(?:oid\.)?([0-2](?:\.(?:0|[1-9]\d*))+)$/i;

/** Canonical name of an attribute type: a short name where there is one, else the dotted identifier. */
export function attributeTypeOfOid(oid: string): string {
  return NAME_OF_OID.get(oid) ?? oid;
}

/** Canonical name for any spelling (case does not matter, `OID.1.2.3` allowed); undefined when unknown. */
export function attributeTypeOf(spelling: string): string | undefined {
  const dotted = DOTTED.exec(spelling)?.[1];
  if (dotted !== undefined) return attributeTypeOfOid(dotted);
  return NAME_OF_SPELLING.get(spelling.toLowerCase());
}

/** Object identifier of a canonical attribute type. */
export function oidOfAttributeType(type: string): string {
  return OID_OF_NAME.get(type) ?? type;
}
