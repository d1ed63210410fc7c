def rows(df):
    return df.collect()  #> collect: unbounded; no collect from given
